"""Does every number in a notebook's analysis stand in the notebook's own outputs, or say where else it comes from?

`reading` finds the numbers of an analysis, `origins` reads where each comes from (a YAML file beside it for each
notebook) and looks there. The YAML files hold no figures: a notebook that was run again needs its text mended, and
nothing here.
"""
