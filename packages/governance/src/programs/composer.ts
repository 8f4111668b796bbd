import type { Program } from "./program.ts";
import { adds, asks, begins, names, takes } from "./shared-rows.ts";

const from = "$COMPOSER_HOME/auth.json ~/.config/composer/auth.json ~/.composer/auth.json";

/** Plugins and scripts of packages run with it: no answer for its connections lasts. */
export const composer: Program = {
  names: "composer",
  manifests: "composer.json",
  tasks: true,
  hosts: "repo.packagist.org packagist.org",
  registry: {
    logins: ["$COMPOSER_AUTH", from].flatMap((place) => [
      { from: place, form: "tree", at: "http-basic *", fields: { user: "username", password: "password" } },
      { from: place, form: "tree", at: "bearer *", fields: { token: "" } },
    ]),
    reads:
      /^(?:.*\/)?(?:packages\.json|p2?\/[\w.%$~/-]+\.json|include\/[\w.$-]+\.json|[\w.@+~-]+\.(?:zip|tar|tar\.gz|tar\.bz2))$/,
  },
  verbs: {
    "require update": { ...adds, login: true },
    remove: takes,
    init: begins,
    "install i outdated search show why": asks,
    "run run-script": names,
  },
};
