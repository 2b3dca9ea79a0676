"""What the site's page "Try it" runs in the browser: the embedded model before and after its training on dots.

python -m benchmarks.tryit            writes build/try, from which `make site` takes it
"""
