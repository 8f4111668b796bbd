// `DisposableStack`, `AsyncDisposableStack` and `SuppressedError`, for versions of Node without them.
import "core-js/stable/disposable-stack/index.js";
import "core-js/stable/async-disposable-stack/index.js";
