"""Changes the code in hundreds of small ways and lists what no test noticed: `make mutants`."""
