import picomatch from "picomatch";
import { describe, expect, it } from "vitest";
import { createSecretsPolicy, isZeroAccess, zeroAccessGlobs } from "#policies/files/secrets";
import { decide, exec, inside, outside, summary, write } from "../effects.ts";

const policy = createSecretsPolicy();

const secret = [
  ...[".env", "a/.env", ".ENV", ".env.local", ".env.production", "certs/server.pem", "KEY.PEM", "id_rsa"],
  ...["id_ed25519", "id_rsa.bak", ".netrc", ".ssh/config", ".aws/credentials", ".git-credentials", ".envrc"],
  ...["certs/server.key", "config/master.key", "credentials.json", "service-account.json"],
  ...["deploy/service-account-prod.json", "terraform.tfstate", "infra/prod.tfstate.backup", "kubeconfig"],
  ".htpasswd",
];
const open = [
  ...[".env.example", ".env.sample", ".env.template", "src/environment.ts", "id_rsa.pub", "src/env.ts", "pem.md"],
  ...["docs/.envoy", "dot.env.md", "src/key.ts", "src/credentials.json.ts", "docs/service-accounts.md"],
  "kubeconfig.md",
];

describe("secrets", () => {
  it.each(secret)("keeps %s from being read, searched, written or proposed, and lets it be listed", async (name) => {
    const path = inside(name);
    for (const effect of [
      { type: "read", path },
      { type: "search", path },
      write(path),
      { type: "propose", path, operation: "update" },
    ] as const) {
      expect(summary(await decide(policy, effect))).toBe("deny zero_access");
    }
    expect(summary(await decide(policy, { type: "list", path }))).toBe("allow");
    expect(isZeroAccess(name)).toBe(true);
  });

  it.each(open)("leaves %s alone", async (name) => {
    expect(summary(await decide(policy, { type: "read", path: inside(name) }))).toBe("allow");
    expect(isZeroAccess(name)).toBe(false);
  });

  it.each(["src/environment.ts", "src/env.ts", "pem.md", "docs/.envoy", "dot.env.md"])(
    "finds %s in searches",
    (name) => {
      expect(picomatch.isMatch(name, [...zeroAccessGlobs], { dot: true, nocase: true })).toBe(false);
    },
  );

  it.each(secret)("has a glob that leaves %s out of searches", (name) => {
    expect(picomatch.isMatch(name, [...zeroAccessGlobs], { dot: true, nocase: true })).toBe(true);
  });

  it("looks through links in both directions", async () => {
    expect(summary(await decide(policy, { type: "read", path: inside(".env", "notes.txt") }))).toBe("deny zero_access");
    expect(summary(await decide(policy, { type: "read", path: inside("notes.txt", ".env") }))).toBe("deny zero_access");
    expect(summary(await decide(policy, { type: "read", path: outside("/home/dev/.ssh/id_rsa") }))).toBe(
      "deny zero_access",
    );
  });

  it("asks for the package manager's configuration, which may hold tokens", async () => {
    expect(summary(await decide(policy, { type: "read", path: inside(".npmrc") }))).toBe("ask zero_access");
  });

  it.each([
    ["cat .npmrc", "ask zero_access"],
    ["cat packages/a/.NPMRC", "ask zero_access"],
    ["cat .n*", "ask zero_access"],
    ["grep -n registry .npmrc", "ask zero_access"],
    ["head < .npmrc", "ask zero_access"],
    ["ls -la .npmrc", "allow"],
    ["cat package.json", "allow"],
  ])("%s: %s, as Read would", async (command, expected) => {
    expect(summary(await decide(policy, exec(command)))).toBe(expected);
  });

  it.each([
    ["**/.env", "deny zero_access"],
    [".e*", "deny zero_access"],
    ["{a,.env}", "deny zero_access"],
    ["*.pem", "deny zero_access"],
    [".env.*", "deny zero_access"],
    ["**/*.{ts,pem}", "deny zero_access"],
    ["~/.ssh/*", "deny zero_access"],
    ["**/*.ts", "allow"],
    ["src/**", "allow"],
    ["*", "allow"],
    ["*.{ts,tsx}", "allow"],
    ["!**/.env", "allow"],
  ])("search with glob %s: %s", async (glob, expected) => {
    expect(summary(await decide(policy, { type: "search", path: inside(""), glob }))).toBe(expected);
    expect(summary(await decide(policy, { type: "list", path: inside(""), glob }))).toBe("allow");
  });
});
