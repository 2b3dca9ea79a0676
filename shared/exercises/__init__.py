"""The judge of a student's function, and the known mistakes that it is compared with. `shared.check` is the way in."""
