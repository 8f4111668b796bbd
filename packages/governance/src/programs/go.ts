import type { Program } from "./program.ts";

const gets = { reaches: true, login: true } as const;

/** It may build with other programs: no answer for its connections lasts. */
export const go: Program = {
  names: "go",
  tellsVersion: true,
  hosts: "proxy.golang.org sum.golang.org",
  registry: {
    addresses: "$GOPROXY ~/.config/go/env",
    netrc: true,
    reads: /^[\w.!~/-]+\/@(?:latest|v\/(?:list|v[\w.+!-]+\.(?:info|mod|zip)))$/,
  },
  verbs: { "get install mod build test run vet list generate work": gets },
};
