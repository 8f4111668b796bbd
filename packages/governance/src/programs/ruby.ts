import type { Program, RegistryUse } from "./program.ts";
import { adds, asks, begins, names, publishes, signsIn, takes } from "./shared-rows.ts";

const hosts = "rubygems.org index.rubygems.org";

/** Both read the index and the gems of a server in the same way. */
const reads: RegistryUse["reads"] =
  /^(?:|(?:latest_|prerelease_)?specs\.4\.8(?:\.gz)?|quick\/Marshal\.4\.8\/[\w.-]+\.gemspec\.rz|gems\/[\w.-]+\.gem|info\/[\w.-]+|versions|names)$/;

/** Extensions of gems build with it: no answer for its connections lasts. */
const gem: Program = {
  names: "gem",
  hosts,
  dangers: [signsIn],
  registry: {
    addresses: "~/.gemrc",
    logins: [
      {
        from: "~/.local/share/gem/credentials ~/.gem/credentials",
        form: "tree",
        at: "*",
        fields: { token: "" },
        usual: { ":rubygems_api_key": "https://rubygems.org/" },
        says: "plain",
      },
    ],
    reads,
    publishes: { method: "POST", path: /^api\/v1\/gems$/, form: "archive" },
    inRun: { variables: { GEM_HOST_API_KEY: "$LOGIN" }, option: "--host" },
  },
  verbs: { "install i update search outdated fetch": asks, "uninstall list info": names, "push yank": publishes },
};

const bundle: Program = {
  names: "bundle",
  manifests: "Gemfile",
  hosts,
  starts: true,
  registry: { addresses: "~/.gemrc", netrc: true, reads },
  verbs: {
    add: { ...adds, login: true },
    remove: takes,
    init: begins,
    "install update outdated lock cache": asks,
    "show info": names,
  },
};

export const ofRuby: readonly Program[] = [gem, bundle];
