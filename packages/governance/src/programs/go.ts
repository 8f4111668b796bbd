import type { Program, Verb } from "./program.ts";

const gets: Verb = { reaches: true, login: true };
/** It fetches what is missing, which is mostly nothing. */
const builds: Verb = { login: true };

/** It may build with other programs: no answer for its connections lasts. */
export const go: Program = {
  names: "go",
  tellsVersion: true,
  hosts: "proxy.golang.org sum.golang.org",
  settings: ".config/go/env",
  registry: {
    addresses: "$GOPROXY ~/.config/go/env",
    netrc: true,
    reads: /^[\w.!~/-]+\/@(?:latest|v\/(?:list|v[\w.+!-]+\.(?:info|mod|zip)))$/,
  },
  verbs: { "get install mod": gets, "build test run vet list generate work": builds },
};
