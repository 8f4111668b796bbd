import type { DeployWords, Program } from "./program.ts";
import { adds, begins, gets, names, publishes, signsIn, takes } from "./shared-rows.ts";

const uploads: DeployWords = { anyOperand: /^(?:publish|unpublish|push|upload|release|hex\.publish|hex\.docs)$/ };
const goals: DeployWords = {
  anyOperand: /(?:^|:)(?:deploy|publish|release)|publish|upload(?:archives)?$/i,
};

export const otherManagers: readonly Program[] = [
  {
    names: "deno",
    tellsVersion: true,
    tasks: true,
    manifests: "deno.json deno.jsonc package.json",
    hosts: "jsr.io deno.land registry.npmjs.org",
    deploys: uploads,
    verbs: { add: adds, remove: takes, init: begins, "install i": gets, publish: publishes },
  },
  {
    names: "brew",
    hosts: "formulae.brew.sh ghcr.io",
    verbs: { "install update upgrade search": gets, "uninstall remove rm info": names },
  },
  {
    names: "apt",
    reads: { list: { options: "--installed --upgradable", operands: "none" } },
    verbs: { "install update upgrade": gets, "remove search show": names },
  },
  { names: "apt-get dnf yum", verbs: { "install update upgrade": gets, "remove search info": names } },
  { names: "apk", verbs: { "add update upgrade": gets, "search info": names } },
  {
    names: "mix",
    tasks: true,
    hosts: "repo.hex.pm hex.pm builds.hex.pm",
    deploys: uploads,
    verbs: { "deps.get deps.update local.hex local.rebar archive.install": gets, "hex.publish hex.retire": publishes },
  },
  {
    names: "stack",
    tasks: true,
    manifests: "stack.yaml package.yaml",
    hosts: "casa.stackage.org hackage.haskell.org s3.amazonaws.com",
    verbs: {
      "update setup unpack": gets,
      "build install test bench run ghci": { reaches: true, names: true },
      "new init": begins,
      "upload hpc": publishes,
    },
  },
  {
    names: "opam",
    hosts: "opam.ocaml.org",
    verbs: {
      "install update upgrade reinstall": gets,
      "remove list show search": names,
      "init switch": { reaches: true },
      publish: publishes,
    },
  },
  {
    names: "dub",
    tasks: true,
    manifests: "dub.json dub.sdl",
    hosts: "code.dlang.org",
    verbs: {
      "fetch search upgrade": gets,
      add: adds,
      "init convert": begins,
      "build test run generate lint": { reaches: true, names: true },
      "remove list describe clean": names,
    },
  },
  {
    names: "nimble",
    tasks: true,
    hosts: "nim-lang.org github.com raw.githubusercontent.com",
    verbs: {
      "install develop refresh search setup sync lock": gets,
      "build c test run": { reaches: true, names: true },
      "uninstall list path dump tasks": names,
      publish: publishes,
    },
  },
  { names: "lerna nx rush", tasks: true, deploys: uploads },
  {
    names: "jsr melos dart flutter changeset pod elm rebar3 luarocks cpan-upload conan vcpkg",
    deploys: uploads,
  },
  { names: "vsce ovsx", dangers: [signsIn], deploys: uploads },
  { names: "gradle", otherwise: {}, tasks: true, deploys: goals },
  { names: "gradlew sbt ant", tasks: true, deploys: goals },
  { names: "mvnw", deploys: goals },
  { names: "dotnet", otherwise: {}, deploys: { anyOperand: /^(?:push|publish)$/ } },
  { names: "nuget choco paket", deploys: { anyOperand: /^(?:push|publish)$/ } },
  {
    names: "semantic-release release-it standard-version np gh-pages surge bumpp changelogithub",
    deploys: { bare: true, verb: /./ },
  },
  {
    names: "goreleaser jreleaser cargo-release",
    deploys: { verb: /^(?:release|publish|full-release|deploy|upload)$/ },
  },
];
