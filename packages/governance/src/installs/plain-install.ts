import { oneCommand } from "../keys/one-command.ts";
import { splitInstall } from "./split-install.ts";

/**
 * Whether this is an npm install that takes packages only from registries, into the surrounding project. No option names a
 * program, settings, or another project; a package from a git repository is not from a registry.
 *
 * @param text for the shell
 */
export function isPlainNpmInstall(text: string): boolean {
  const [program, , ...rest] = oneCommand(text) ?? [];
  if (program !== "npm" || splitInstall(text) === undefined) return false;
  for (let at = 0; at < rest.length; at += 1) {
    const word = rest[at] ?? "";
    const [name = "", value] = word.split(/=(.*)/s, 2);
    if (withValue.has(name)) {
      if ((value ?? rest[(at += 1)] ?? "-").startsWith("-")) return false;
    } else if (word.startsWith("-") ? !flag.test(word) : !ofRegistry.test(word)) return false;
  }
  return true;
}

const ofRegistry = /^(?:@[\w.-]+\/)?[a-zA-Z0-9][\w.-]*(?:@[\w.^~<>=*-]+)?$/;

const withValue: ReadonlySet<string> = new Set(
  "-w --workspace --omit --include --tag --save-prefix --loglevel --install-strategy --before --cpu --os --libc".split(
    " ",
  ),
);

const flag = new RegExp(
  `^(?:-[DSEOPBfsqdw]|-dd|-ddd|-ws|--(?:no-)?(?:${[
    "save save-dev save-exact save-optional save-peer save-prod save-bundle audit fund progress force legacy-peer-deps package-lock",
    "strict-peer-deps prefer-dedupe prefer-offline prefer-online offline optional shrinkwrap bin-links workspaces",
    "include-workspace-root engine-strict json color",
  ]
    .join(" ")
    .replaceAll(
      " ",
      "|",
    )})(?:=(?:true|false))?|--silent|--quiet|--verbose|--production|--dry-run|--package-lock-only|--ignore-scripts)$`,
);
