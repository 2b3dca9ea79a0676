"""The program that runs ONNX files in a browser: onnxruntime-web, pinned by its hash."""

from checker.site.loaded.npm import Package

PACKAGE = Package(
    "onnxruntime-web@1.30.0",
    "q0y+JrrtukXSzsBWEMccVfqX25LRmosXHF+CaRJmg8pZClzcV7svNc4rKY3jL02Vb7QmRMDs1SigqR4CXAfKYQ==",
    ("dist/ort.wasm.bundle.min.mjs", "dist/ort-wasm-simd-threaded.wasm"),
)
