-- expect: absent 2
os.exit (0)
