-- expect: absent 2
os.execute ("touch escaped")
