import { accessSync, constants } from "node:fs";
import { createRequire } from "node:module";
import { delimiter, isAbsolute, join } from "node:path";
import { ToolFailure } from "@gennai/governance/tool-error";

/**
 * Absolute path of the ripgrep binary: that of the editor that started this server, else the one that comes with
 * `@vscode/ripgrep`, else `rg` of the `PATH`. Throws `ripgrep_missing`. A bundled server finds the package from where the bundle lies; one without any `node_modules` gives
 * `openLocalWorkspace` the path.
 */
export function ripgrepPath(): string {
  found ??= fromEditor() ?? fromPackage() ?? fromSearchPath();
  if (found !== undefined) return found;
  throw new ToolFailure("ripgrep_missing", "Searching needs ripgrep, and no rg was found.", {
    failureClass: "tool_unavailable",
    hint: "Ask the user to install ripgrep, or the optional dependencies of @vscode/ripgrep.",
  });
}

/** The editor's extension says where it is. */
function fromEditor(): string | undefined {
  const path = process.env["GENNAI_RIPGREP"];
  return path === undefined || !isAbsolute(path) ? undefined : executable(path);
}

// Not by importing the package: its own look-up goes wrong once a bundler has moved its code, and would cost time at start.
function fromPackage(): string | undefined {
  try {
    const fromPackageItself = createRequire(createRequire(import.meta.url).resolve("@vscode/ripgrep"));
    return executable(fromPackageItself.resolve(`@vscode/ripgrep-${process.platform}-${process.arch}/bin/${binary}`));
  } catch {
    return undefined;
  }
}

function fromSearchPath(): string | undefined {
  const directories = (process.env["PATH"] ?? "").split(delimiter).filter((directory) => directory !== "");
  return directories.map((directory) => executable(join(directory, binary))).find((path) => path !== undefined);
}

function executable(path: string): string | undefined {
  try {
    accessSync(path, constants.X_OK);
    return path;
  } catch {
    return undefined;
  }
}

const binary = process.platform === "win32" ? "rg.exe" : "rg";
let found: string | undefined;
