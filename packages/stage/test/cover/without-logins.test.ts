import { describe, expect, test } from "vitest";
import { mayHoldLogin, withoutLogins } from "#cover/without-logins";

const secret = "s3cr3t-v4lue";

describe("settings are shown without their logins", () => {
  test.each<[path: string, before: string, stays: readonly string[]]>([
    [
      ".npmrc",
      `registry=https://npm.example/\n@a:registry=https://own.example:8443/@a/\n//own.example:8443/@a/:_authToken=${secret}\nsave-exact=true\n`,
      ["registry=https://npm.example/", "@a:registry=https://own.example:8443/@a/", "save-exact=true"],
    ],
    [".npmrc", `_auth=${secret}\n_password=${secret}\nusername=${secret}\nemail=${secret}@x\nca=abc\n`, ["ca=abc"]],
    [".npmrc", `cert="-----BEGIN ${secret}"\nkey="${secret}"\n//h/:certfile=/${secret}\n//h/:keyfile=/${secret}\n`, []],
    [
      ".npmrc",
      `//h/:tokenHelper=/home/me/${secret}\n//h/:_authToken=\${${secret}}\nprogress=false\n`,
      ["progress=false"],
    ],
    [".npmrc", `registry=https://me:${secret}@own.example/npm/\n`, ["registry=https://own.example/npm/"]],
    [".npmrc", `registry=https://me:a@${secret}/b@own.example/npm/\n`, ["own.example/npm/"]],
    [".npmrc", `registry=https://\${ME}:\${${secret}}@own.example/\n`, ["registry=https://own.example/"]],
    [".npmrc", `proxy=me:${secret}@proxy.example:3128\n`, ["proxy=proxy.example:3128"]],
    [
      ".yarnrc.yml",
      `npmRegistries:\n  "https://own.example":\n    npmAuthIdent: "me:${secret}"\n    npmAuthToken: |\n      ${secret}\n    npmAlwaysAuth: true\nnodeLinker: pnp\n`,
      ["npmRegistries:", `  "https://own.example":`, "nodeLinker: pnp"],
    ],
    [
      ".yarnrc",
      `registry "https://own.example/"\n"//own.example/:_authToken" "${secret}"\n`,
      [`registry "https://own.example/"`],
    ],
    [
      "bunfig.toml",
      `[install]\nregistry = { url = "https://own.example/", token = "${secret}" }\n`,
      [`url = "https://own.example/"`],
    ],
    [
      "bunfig.toml",
      `[install]\nregistry = "https://me:${secret}@own.example/"\n`,
      [`registry = "https://own.example/"`],
    ],
    [
      ".config/pip/pip.conf",
      `[global]\nindex-url = https://me:${secret}@pypi.example/simple\nextra-index-url =\n    https://${secret}@two.example/\nclient-cert = /${secret}\ntimeout = 60\n`,
      ["index-url = https://pypi.example/simple", "    https://two.example/", "timeout = 60"],
    ],
    [
      ".cargo/config.toml",
      `[registries.own]\nindex = "sparse+https://own.example/"\ntoken = "${secret}"\n`,
      [`index = "sparse+https://own.example/"`],
    ],
    [
      "nuget.config",
      `<add key="own" value="https://own.example" />\n<add key="ClearTextPassword" value="${secret}" />\n`,
      ["https://own.example"],
    ],
    [
      ".git/config",
      `[remote "origin"]\n\turl = https://me:${secret}@git.example/r.git\n[http "https://git.example"] extraheader = Basic \\\n ${secret}\n[core]\n\tbare = false\n`,
      ["\turl = https://git.example/r.git", `[http "https://git.example"]`, "\tbare = false"],
    ],
    [
      ".git/config",
      `[credential]\n\thelper = "!f() { echo word=${secret}; }; f"\n\tusername = me\n`,
      ["\tusername = me"],
    ],
    [
      ".git/config",
      `[url "https://x:${secret}@git.example/"]\n\tinsteadOf = https://git.example/\n`,
      [`[url "https://git.example/"]`],
    ],
  ])("%s: %j", (path, before, stays) => {
    expect(mayHoldLogin(path, path.startsWith(".git/"))).toBe(true);
    const after = Buffer.from(withoutLogins(path, Buffer.from(before)) ?? before).toString();
    expect(after).not.toContain(secret);
    for (const line of stays) expect(after).toContain(line);
  });

  test.each([
    [".npmrc", "registry=http://127.0.0.1:4873/\n@scope:registry=https://own.example:8443/@scope/\nkeywords=x\n"],
    [".yarnrc.yml", 'npmRegistryServer: "https://own.example:443"\nyarnPath: .yarn/releases/yarn.cjs\n'],
    [".cargo/config.toml", '[build]\njobs = 2\n[source.own]\nregistry = "https://own.example/index"\n'],
    [".git/config", '[remote "origin"]\n\turl = ssh://git@git.example:2222/r.git\n'],
    [
      ".git/config",
      '[remote "origin"]\n\turl = git@git.example:me/r.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n',
    ],
    ["pip.conf", "[global]\nindex-url = https://pypi.example/simple\n"],
  ])("%s without any stays as it is", (path, text) => {
    expect(withoutLogins(path, Buffer.from(text))).toBeUndefined();
  });

  test("a file of another name is not looked at", () => {
    for (const path of ["src/config", "config.toml", "cargo/config.toml", "rc"])
      expect(mayHoldLogin(path, false)).toBe(false);
  });
});
