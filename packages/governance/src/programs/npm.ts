import type { PlainWords, Program } from "./program.ts";
import { asks, begins, gets, installs, names, publishes, removes, signsIn } from "./shared-rows.ts";

/** From registries, into the surrounding project: no option names a program, settings or another project. */
const plain: PlainWords = {
  values:
    "-w --workspace --omit --include --tag --save-prefix --loglevel --install-strategy --before --cpu --os --libc",
  flags: new RegExp(
    `^(?:-[DSEOPBfsqdw]|-dd|-ddd|-ws|--(?:no-)?(?:${[
      "save save-dev save-exact save-optional save-peer save-prod save-bundle audit fund progress force legacy-peer-deps",
      "package-lock strict-peer-deps prefer-dedupe prefer-offline prefer-online offline optional shrinkwrap bin-links",
      "workspaces include-workspace-root engine-strict json color",
    ]
      .join(" ")
      .replaceAll(
        " ",
        "|",
      )})(?:=(?:true|false))?|--silent|--quiet|--verbose|--production|--dry-run|--package-lock-only|--ignore-scripts)$`,
  ),
  // No path or file of the tree, and no repository (`OWNER/NAME`).
  operands: /^(?!.*\.(?:tgz|tar|tar\.gz)$)(?:@[\w.-]+\/)?[a-zA-Z0-9][\w.-]*(?:@[\w.^~<>=*-]+)?$/i,
};

/** Scripts that npm runs after an install without names but that `npm rebuild` leaves out, in order. */
const leftOut = "prepublish preprepare prepare postprepare".split(" ");

/** The same of pnpm and yarn. */
export const installOptions = {
  runsNone: /^--ignore-scripts(?:=true)?$|^--dry-run$|^--package-lock-only$|^--lockfile-only$/,
  elsewhere: /^(?:-g|--global|--prefix|-C|--cwd|--dir|-w|--workspace|--workspaces|-ws|--location)(?:=|$)/,
};

/** The user's word against all scripts holds here as well. */
export function unlessOff(manager: string, text: string): string {
  return `[ "$(${manager} config get ignore-scripts 2>/dev/null)" = true ] || { ${text}; }`;
}

// Neither runs pre and post scripts of a named script: each of them is in the list.
export const allScripts = unlessOff(
  "npm",
  ["npm rebuild", ...leftOut.map((script) => `npm run --if-present --ignore-scripts ${script}`)].join(" && "),
);

const ofPackages = unlessOff(
  "npm",
  [
    `names=$(node -p 'Object.entries(require("./node_modules/.package-lock.json").packages).filter(([, one]) => one.hasInstallScript).map(([place]) => place.replace(/.*node_modules\\//, "")).join(" ")')`,
    `{ [ -z "$names" ] || npm rebuild $names; }`,
  ].join(" && "),
);

/** Where a directory or a workspace is named before the verb. */
const valued = "-C --prefix -w --workspace --loglevel --registry --userconfig --cache";

export const npm: Program = {
  names: "npm",
  edits: true,
  tellsVersion: true,
  tasks: "package.json",
  starts: true,
  valued,
  manifests: "package.json",
  hosts: "registry.npmjs.org",
  settings: ".npmrc",
  logins: ["npm"],
  plain,
  apart: {
    type: "install",
    ...installOptions,
    ways: [{ without: "--ignore-scripts", scripts: allScripts, packages: ofPackages }],
    rebuild: "npm rebuild",
  },
  dangers: [signsIn],
  verbs: {
    "install i in ins inst insta instal isnt isnta isntal isntall add": { ...installs, lasting: true },
    "ci clean-install ic install-clean isntall-clean": { ...installs, lasting: true },
    "update up upgrade u udpate": { ...installs, lasting: true },
    // Tests of the project run in the same step.
    "install-test it sit install-ci-test cit clean-install-test": { writes: "packages", reaches: true, names: true },
    "uninstall un unlink remove rm r": removes,
    "dedupe ddp prune rebuild rb": removes,
    "link ln": { writes: "packages" },
    audit: { writes: "packages", reaches: true, lasting: true },
    outdated: { ...asks, lasting: true },
    "view info show v": { ...asks, lasting: true },
    "search find s se": { ...gets, lasting: true },
    ping: { reaches: true, lasting: true },
    "explain why": names,
    "init create innit": { writes: "manifests", reaches: true },
    "pkg version verison set-script": begins,
    "exec x": { reaches: true },
    "run run-script rum urn test t tst start stop restart": names,
    "publish pub": publishes,
    "dist-tag dist-tags": publishes,
    deprecate: publishes,
    undeprecate: publishes,
    "owner author": publishes,
    "unpublish unpub deploy": publishes,
  },
};

/** Others of npm's words, of which less is known. */
export const npmLike: Program = {
  names: "cnpm tnpm",
  otherwise: {},
  verbs: { "publish pub unpublish unpub deprecate dist-tag dist-tags deploy": publishes },
};

export const npx: Program = {
  names: "npx",
  edits: true,
  otherwise: { reaches: true },
  starts: true,
  tellsVersion: true,
};
