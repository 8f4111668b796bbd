// A PreToolUse hook: refuses changes of files whose first line says that they are generated.
import { readFileSync } from "node:fs";
import { resolve } from "node:path";

/** @type {{ cwd: string, tool_input: { file_path?: string } }} */
const call = JSON.parse(readFileSync(0, "utf8"));
const path = resolve(call.cwd, call.tool_input.file_path ?? "");
if (/\bgenerated\b/.test(firstLine(path))) {
  process.stderr.write("this file is generated: change what it is made from, docs/palette.json\n");
  process.exitCode = 2;
}

/** @param {string} file @returns {string} empty for a file that is not there yet */
function firstLine(file) {
  try {
    return readFileSync(file, "utf8").split("\n", 1)[0] ?? "";
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return "";
    throw error;
  }
}
