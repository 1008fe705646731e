-- expect: absent 2
package.path = "/tmp/?.lua"
