import type { Program } from "./program.ts";
import { asks, begins, names, publishes, removes } from "./shared-rows.ts";

export const bun: Program = {
  names: "bun",
  edits: true,
  tellsVersion: true,
  tasks: "package.json",
  starts: true,
  valued: "--cwd",
  manifests: "package.json",
  hosts: "registry.npmjs.org",
  lock: "bun.lock",
  settings: ".bunfig.toml",
  logins: ["npm"],
  verbs: {
    "install i add update": { ...asks, writes: "packages" },
    "remove rm": removes,
    link: { writes: "packages" },
    outdated: asks,
    "info why": names,
    init: begins,
    "create x": { reaches: true },
    "run test start": names,
    "publish pub": publishes,
    "dist-tag dist-tags": publishes,
    deprecate: publishes,
    "unpublish unpub deploy": publishes,
  },
};

export const bunx: Program = { names: "bunx", edits: true, otherwise: { reaches: true }, starts: true };
