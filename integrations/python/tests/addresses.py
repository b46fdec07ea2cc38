"""Addresses, and the host that partitions are made by."""

ADDRESSES = {
    "http://Example.org/a": "example.org", "http://example.org:80/": "example.org",
    "HTTPS://example.org:443": "example.org",
    "http://example.org./a": "example.org", "http://EXAMPLE.ORG.:80/a": "example.org",
    "http://example.org:?a": "example.org",
    "https://user:pass@h.x:81/?@": "h.x", "http://a@b@h.x/": "h.x", "http://h.x?q": "h.x", "http://h.x#f": "h.x",
    "http://[::1]:80/": "[::1]", "http://[::1]/a": "[::1]",
    "s3://photos/a:b@c?d#e.jpg": "storage.test", "S3://Other.Bucket/a": "storage.test",
    "http://storage.test:9000/a": "storage.test",
    "http://h.y/": "h.y", "http://x.h.y/": "x.h.y", "http://h.y../": "h.y.",
    "not a url": "", "": "", "//h.x/a": "", "ftp://h.x/a": "", "/a/b.jpg": "", "http://": "",
}  # fmt: skip
ENDPOINT = "http://Storage.test:9000/base"
