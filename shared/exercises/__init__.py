"""How a student's function is judged, and the known mistakes that it is compared with. `shared.check` is the way in."""
