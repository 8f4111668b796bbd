import { execFile, execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { promisify } from "node:util";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { describe, expect, test } from "vitest";
import { pipAlone } from "#keys/reading/pip-alone";
import { pipReader } from "#keys/reading/pip-reader";

const [, ...alone] = pipAlone;
const plain = ["-I", "-m", "pip"];
const python = "/usr/bin/python3";

type Directory = Awaited<ReturnType<typeof temporaryDirectory>>;

/** Packages whose building leaves a file `ran`, as archives and directories, and a wheel that wants one of them. */
async function hostile(): Promise<Directory> {
  const directory = await temporaryDirectory({
    "evil/pyproject.toml": `[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n`,
    "make.py": `import os, sys, tarfile, zipfile
root = os.getcwd()
backend = f"open({root + '/ran'!r}, 'a').write('ran')\\nraise SystemExit(1)\\n"
open("evil/backend.py", "w").write(backend)
open("evil/setup.py", "w").write(backend)
with tarfile.open("evil.tbz", "w:bz2") as archive: archive.add("evil")
with zipfile.ZipFile("evil2.zip", "w") as archive:
    for name in os.listdir("evil"): archive.write("evil/" + name)
info = "dep-1.0.dist-info/"
with zipfile.ZipFile("dep-1.0-py3-none-any.whl", "w") as wheel:
    wheel.writestr(info + "METADATA", f"Metadata-Version: 2.1\\nName: dep\\nVersion: 1.0\\nRequires-Dist: evil @ file://{root}/evil\\n")
    wheel.writestr(info + "WHEEL", "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
    wheel.writestr(info + "RECORD", "")
`,
    "lines.txt": "nothing ; python_version < '3'\f./evil\n",
    "variable.txt": "nothing ; os_name == ${CANARY}\n",
    ".netrc": "machine pip.example login me password secret\n",
    ".config/pip/pip.conf": "[global]\nindex-url = https://pip.example/simple/\n",
  });
  execFileSync(python, ["make.py"], { cwd: directory.root });
  return directory;
}

/** What pip printed, and whether code of a package ran. */
async function download(start: readonly string[], operands: readonly string[], directory: Directory) {
  const { PATH } = process.env;
  const args = [...start, "download", "--only-binary=:all:", "--dest", directory.path("there"), "--no-index"];
  const env = { PATH, PIP_CONFIG_FILE: "/dev/null", PIP_NO_CACHE_DIR: "1", CANARY: "canary", HOME: directory.root };
  const { stdout, stderr } = await promisify(execFile)(python, [...args, "--find-links", directory.root, ...operands], {
    cwd: directory.root,
    env,
  }).catch((error: unknown) => error as { stdout: string; stderr: string });
  return { output: stdout + stderr, ran: existsSync(directory.path("ran")) };
}

describe("of what pip would build, nothing runs", () => {
  test.each<[string[]]>([[["evil.tbz"]], [["evil2.zip[x]"]], [["dep"]], [["-r", "lines.txt"]]])(
    "%j",
    async (operands) => {
      await using bare = await hostile();
      await using kept = await hostile();
      const [usual, { output, ran }] = await Promise.all([
        download(plain, operands, bare),
        download(alone, operands, kept),
      ]);
      expect(usual.ran).toBe(true);
      expect(ran).toBe(false);
      expect(output).toContain("With a login, pip starts no program");
    },
  );

  test("a variable of its environment would get into what it says", async () => {
    await using directory = await hostile();
    expect((await download(plain, ["-r", "variable.txt"], directory)).output).toContain("canary");
  });
});

test.each([
  ["pip install dep", 1],
  ["pip install evil.tbz", 0],
  ["pip install 'evil2.zip[x]'", 0],
  ["pip install -r lines.txt", 0],
  ["pip install -r variable.txt", 0],
])("%s: logins: %i", async (text, count) => {
  await using directory = await hostile();
  const { root } = directory;
  const place = {
    directory: root,
    workspaceRoot: root,
    keys: { home: root, environment: {} },
    signal: new AbortController().signal,
  };
  const logins = await pipReader.logins(text, place);
  expect(logins).toHaveLength(count);
  const key = await (await logins[0]?.plan())?.uncover(place);
  if (key !== undefined) expect(key.text).toContain("sys.addaudithook(refuse)");
});
