// `DisposableStack`, `AsyncDisposableStack` and `SuppressedError`, where Node has none.
import "core-js/stable/disposable-stack/index.js";
import "core-js/stable/async-disposable-stack/index.js";
