import { allScripts, installOptions } from "./npm.ts";
import type { Program } from "./program.ts";
import { asks, begins, installs, names, publishes, removes, signsIn } from "./shared-rows.ts";

/** The first one and those after it differ. Either starts the yarn that the workspace names: no answer for its connections lasts. */
export const yarn: Program = {
  names: "yarn",
  edits: true,
  tellsVersion: true,
  tasks: "package.json",
  starts: true,
  bare: "install",
  valued: "--cwd --registry",
  manifests: "package.json",
  hosts: "registry.yarnpkg.com registry.npmjs.org",
  lock: "yarn.lock",
  settings: ".yarnrc .yarnrc.yml",
  logins: ["npm", "yarnrc"],
  apart: {
    type: "install",
    ...installOptions,
    version: "yarn --version",
    ways: [
      { versions: "1.*", without: "--ignore-scripts", scripts: allScripts },
      { without: "--mode=skip-build", scripts: "YARN_ENABLE_NETWORK=0 yarn install --immutable" },
    ],
    rebuild: "npm rebuild",
  },
  dangers: [signsIn],
  deploys: { anyOperand: /^(?:publish|unpublish)$/ },
  verbs: {
    "install add up upgrade": installs,
    remove: removes,
    "dedupe link": { writes: "packages" },
    "outdated info": asks,
    audit: { reaches: true },
    why: names,
    "init version": begins,
    "dlx create": { reaches: true },
    "run test start": names,
    // Of version 2 and later: `yarn npm publish`.
    npm: { reaches: true, login: true },
    "publish pub": publishes,
    "dist-tag dist-tags": publishes,
    deprecate: publishes,
    "unpublish unpub deploy": publishes,
  },
};
