import { installOptions, unlessOff } from "./npm.ts";
import type { Program } from "./program.ts";
import { asks, begins, installs, names, publishes, removes, signsIn } from "./shared-rows.ts";

/** It loads `.pnpmfile.cjs` of the workspace: no answer for its connections lasts. */
export const pnpm: Program = {
  names: "pnpm",
  edits: true,
  tellsVersion: true,
  tasks: "package.json",
  starts: true,
  valued: "-C --dir --prefix -F --filter --filter-prod --loglevel --reporter --registry",
  manifests: "package.json",
  hosts: "registry.npmjs.org",
  lock: "pnpm-lock.yaml",
  settings: ".config/pnpm/rc",
  logins: ["npm"],
  apart: {
    type: "install",
    ...installOptions,
    ways: [
      {
        without: "--ignore-scripts",
        // The fetching run has already checked the lock file's packages with the registry.
        scripts: unlessOff("pnpm", "pnpm_config_trust_lockfile=true pnpm rebuild"),
      },
    ],
    rebuild: "pnpm rebuild",
  },
  dangers: [signsIn],
  verbs: {
    "install i add update up upgrade": installs,
    "remove rm uninstall un": removes,
    "dedupe prune rebuild rb import": removes,
    "link ln": { writes: "packages" },
    fetch: { reaches: true, login: true },
    outdated: asks,
    "view info show": { login: true, names: true },
    audit: { reaches: true },
    "search why": names,
    "init pkg version": begins,
    "dlx create": { reaches: true },
    "run run-script test t start stop restart": names,
    "publish pub": publishes,
    "dist-tag dist-tags": publishes,
    deprecate: publishes,
    owner: publishes,
    "unpublish unpub deploy": publishes,
  },
};

export const pnpx: Program = { names: "pnpx", edits: true, otherwise: { reaches: true }, starts: true };
