import type { Program } from "./program.ts";
import { asks, begins, names, publishes } from "./shared-rows.ts";

/** `Setup.hs` of packages builds with it: no answer for its connections lasts. */
export const cabal: Program = {
  names: "cabal",
  tellsVersion: true,
  tasks: true,
  manifests: "cabal.project",
  hosts: "hackage.haskell.org",
  registry: {
    addresses: "$CABAL_CONFIG ~/.cabal/config ~/.config/cabal/config",
    netrc: true,
    reads:
      /^(?:0[01]-index\.tar(?:\.gz)?|(?:root|timestamp|snapshot|mirrors)\.json|package\/[\w.-]+(?:\/(?:revision\/)?[\w.-]+)?|[\w-]+\/[\d.]+\/[\w.-]+\.(?:tar\.gz|cabal))$/,
  },
  verbs: {
    "update get fetch install": asks,
    "build run test bench repl": { login: true, names: true },
    "init gen-bounds": begins,
    "list info outdated check sdist clean": names,
    "upload report": publishes,
  },
};
