"""The files of the site's page "Try it": the embedded model before and after its training on dots, for the browser.

python -m benchmarks.tryit            writes build/try, from which `make site` takes it
"""
