// First those of an extension that sleeps: the others wake it.
import "./activation.ts";
import "./belongs-to-editor.ts";
import "./editor.ts";
// Last: it begins a session, which writes into the workspace.
import "./offered-tools.ts";
