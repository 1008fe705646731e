-- expect: unseen 2
-- a os.exit ()
