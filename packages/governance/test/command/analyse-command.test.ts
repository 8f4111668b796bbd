import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { analyseCommand } from "#command/analyse-command";
import { startsNothing } from "#command/only-reads";
import { commandVerdict } from "#policies/commands";

const options = { cwd: "/ws", home: "/home/dev" };
const analyse = (command: string) => analyseCommand(command, options);
const verdict = (command: string) => commandVerdict(analyse(command)).type;

describe("analyseCommand", () => {
  it.each([
    ["rm -rf x", ["/ws/x"]],
    ["rm -fr ./x y", ["/ws/x", "/ws/y"]],
    ["cp -av a b", ["/ws/a", "/ws/b"]],
    ["chmod -Rv u+x bin", ["/ws/bin"]],
    ["mkdir -pv made", ["/ws/made"]],
    ["grep -rn x src > out", ["/ws/src", "/ws/out"]],
  ])("takes a cluster of flags for no path: %j", (command, expected) => {
    expect(new Set(analyse(command).paths.map(({ absolute }) => absolute))).toEqual(new Set(expected));
  });

  it.each([
    ["rm -f.env", "/ws/.env"],
    ["rm -rf.env", "/ws/.env"],
    ["tar -xf.env", "/ws/.env"],
    ["curl -sd@.env http://x", "/ws/.env"],
    ["unheard-of -rf.env", "/ws/f.env"],
    ["unheard-of -f.env", "/ws/.env"],
    ["zip -rqT.env", "/ws/.env"],
  ])("still sees a value joined to a cluster: %j", (command, expected) => {
    expect(analyse(command).paths.map(({ absolute }) => absolute)).toContain(expected);
  });

  it.each([
    ["git ls-files -o -i --exclude-standard", []],
    ["git grep -o -n needle", []],
    ["git commit -o src/a.ts -m x", []],
    ["git push -o ci.skip origin HEAD", []],
    ["git clone -o upstream https://git.example.com/a.git b", []],
    ["git archive -o out.tar HEAD", ["/ws/out.tar"]],
    ["git format-patch -o patches HEAD~1", ["/ws/patches"]],
    ["git unheard-of -o out", ["/ws/out"]],
  ])("takes -o of git for an output only where it may be one: %j", (command, expected) => {
    const written = analyse(command).paths.filter(({ access }) => access === "write");
    expect(written.map(({ absolute }) => absolute)).toEqual(expected);
  });

  it.each([
    ["python3 -c \"open('docs/x.md','w').write('see .vscode/settings.json')\"", ["/ws/docs/x.md"]],
    ["python3 -c \"p='a.ts'; s=open(p).read().replace('/api/v1','/api/v2'); open(p,'w').write(s)\"", []],
  ])("takes of the texts in code only what it opens to write for written: %j", (command, expected) => {
    const written = analyse(command).paths.filter(({ access }) => access === "write");
    expect(written.map(({ absolute }) => absolute)).toEqual(expected);
  });

  it("finds every simple command, unwrapped, with the wrappers around it", () => {
    const { commands } = analyse("cd src && sudo env A=1 rm -r old | tee \"$LOG\"; bash -c 'ls -l'");
    expect(commands).toEqual([
      { name: "cd", words: ["src"], wrappers: [] },
      { name: "sudo", words: ["env", "A=1", "rm", "-r", "old"], wrappers: [] },
      { name: "env", words: ["A=1", "rm", "-r", "old"], wrappers: ["sudo"] },
      { name: "rm", words: ["-r", "old"], wrappers: ["sudo", "env"] },
      { name: "tee", words: [undefined], wrappers: [] },
      { name: "bash", words: ["-c", "ls -l"], wrappers: [] },
      { name: "ls", words: ["-l"], wrappers: ["bash"] },
    ]);
  });

  it.each<[command: string, paths: readonly string[]]>([
    ["cat a ../b > c", ["write /ws/c", "read /ws/a", "read /b"]],
    ["cd docs && mv x y", ["list /ws/docs", "delete /ws/docs/x", "write /ws/docs/y"]],
    ["cp -t out a b", ["write /ws/out", "read /ws/a", "read /ws/b"]],
    ["ls ~/x", ["list /home/dev/x"]],
    ["sed -i s/a/b/ f", ["write /ws/f"]],
    ["find . -fprint out", ["list /ws", "write /ws/out"]],
    ["unknown-tool --config=x y", ["unknown /ws/x", "unknown /ws/y"]],
    ["ls > /dev/null 2>&1", []],
    // Verbs, and names of packages, scripts, branches and remotes are no files.
    ["npm install", []],
    ["npm run build:prod", []],
    ["npm install -D @types/node typescript@5.4", []],
    ["pip install requests==2.3 'httpx[http2]'", []],
    ["npx vitest", []],
    ["git pull origin main", []],
    ["git merge feature/x", []],
    ["git cherry-pick main~2", []],
    ["git remote add fork https://example.com/x.git", []],
    ["git stash pop", []],
    // These may be.
    ["npm install ./pkg", ["unknown /ws/pkg"]],
    ["npm install pkg.tgz", ["unknown /ws/pkg.tgz"]],
    ["npm install --prefix vault x", ["unknown /ws/vault"]],
    ["npm --prefix vault install", ["unknown /ws/vault", "unknown /ws/install"]],
    ["pip install -r list", ["unknown /ws/list"]],
    ["npm run build -- vault", ["unknown /ws/vault"]],
    ["docker cp vault box", ["unknown /ws/vault", "unknown /ws/box"]],
    ["git fetch ../other", ["list /other"]],
    ["git stash push src/a.ts", ["read /ws/src/a.ts"]],
    // What no table knows may be anything.
    ["gzip f", ["unknown /ws/f"]],
    ["truncate -s 0 f", ["write /ws/f"]],
    ["touch -d yesterday f", ["write /ws/f"]],
    ["cp sub/f .", ["read /ws/sub/f", "write /ws"]],
    ["find src -name '*.ts' -exec sed -i s/a/b/ {} +", ["write /ws/src/*.ts", "read /ws/src"]],
    ["git restore --staged f", ["read /ws/f"]],
    ["git checkout topic", ["unknown /ws/topic"]],
    ["git checkout -b topic", []],
  ])("resolves the paths of %s", (command, paths) => {
    expect(analyse(command).paths.map((path) => `${path.access} ${path.absolute}`)).toEqual(paths);
  });

  it("tells what keeps the content of files", () => {
    const kept = (command: string) => analyse(command).paths.map((path) => path.keepsContent === true);
    expect(kept("mkdir a")).toEqual([true]);
    expect(kept("chmod +x a")).toEqual([true]);
    expect(kept("rm -r node_modules")).toEqual([true]);
    expect(kept("rm -r src")).toEqual([false]);
    expect(kept("mkdir a; echo x > a")).toEqual([false]);
  });

  it("marks paths that only the shell can tell", () => {
    expect(analyse("cat src/*.ts").paths).toEqual([
      { raw: "src/*.ts", absolute: "/ws/src/*.ts", access: "read", pattern: true },
    ]);
  });

  it("knows both directories where a change may fail", () => {
    expect(analyse("cd docs; cat a").paths.map((path) => path.absolute)).toEqual(["/ws/docs", "/ws/a", "/ws/docs/a"]);
    expect(analyse("(cd docs); cat a").paths.map((path) => path.absolute)).toEqual(["/ws/docs", "/ws/a"]);
  });

  it.each([
    ["ls", "low"],
    ["touch x", "medium"],
    ["sudo ls", "high"],
    ["npm publish", "high"],
    ["curl -d @f http://x", "high"],
    ["rm -rf dist", "high"],
  ])("takes the risk of %s for %s", (command, risk) => {
    expect(analyse(command).risk).toBe(risk);
  });

  it.each([
    ["$X y", "a variable in command position"],
    ["$(x) y", "a substitution in command position"],
    ["/bin/l? y", "a wildcard in command position"],
    ["ls 'x", "text that does not parse: unterminated single quote"],
    ["ls \u202e", "a character that changes the direction of the text"],
    [`${"(".repeat(400)}ls${")".repeat(400)}`, "text that does not parse"],
    ["a".repeat(70_000), "a command longer than 64 KiB"],
  ])("says why %j cannot be resolved", (command, reason) => {
    expect(analyse(command).unresolved.join("; ")).toContain(reason);
  });

  it("takes git in another directory than the workspace for unproven: its configuration is not the user's", () => {
    expect(analyseCommand("git status", { ...options, cwd: "/ws/sub", workspace: "/ws" }).readsOnly).toBe(false);
  });

  it.each([
    ["head -n 3 a.ts", true],
    ["grep -n x a.ts | wc -l; ls", true],
    ["echo git", true],
    ["git status", false],
    ["ls && git log", false],
    ["/usr/bin/git status", false],
    ["g'i't status", false],
    ["yarn --version", false],
    ["npx -v", false],
    ["rm a.ts", false],
    ["cat a > b", false],
    ["head $(git ls-files)", false],
    ["sh -c 'head a'", false],
  ])("knows whether all programs of %j start no other: %j", (command, expected) => {
    expect(startsNothing(analyse(command))).toBe(expected);
  });

  it("never throws, and never proves text that does not parse", () => {
    const piece = fc.constantFrom(
      ..."ls cat rm -rf $X $( ` ' \" { } ( ) ; && || | > < << EOF \n # \\ ~ * .env / = [[ ]] (( )) if then fi do done".split(
        " ",
      ),
    );
    const line = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.array(piece, { maxLength: 24 }).map((pieces) => pieces.join(" ")),
      fc.array(piece, { maxLength: 24 }).map((pieces) => pieces.join("")),
    );
    fc.assert(
      fc.property(line, (text) => {
        const analysis = analyse(text);
        expect(analysis.text).toBe(text);
        if (analysis.unresolved.length > 0 || analysis.dangers.length > 0) expect(analysis.readsOnly).toBe(false);
      }),
      { numRuns: 2_000 },
    );
  });

  it("refuses what it refuses, wherever it stands and however it is quoted", () => {
    const places: readonly ((command: string) => string)[] = [
      (command) => `ls; ${command}`,
      (command) => `ls | ${command}`,
      (command) => `false || ${command} &`,
      (command) => `(${command})`,
      (command) => `{ ${command}; }`,
      (command) => `echo "$(${command})"`,
      (command) => `cat <(${command})`,
      (command) => `if ls; then ${command}; fi`,
      (command) => `while ls; do ${command}; done`,
      (command) => `f() { ${command}; }; f`,
      (command) => `bash -c '${command.replaceAll("'", "'\\''")}'`,
      (command) => `sh <<'X'\n${command}\nX`,
      (command) => `ls > out; ${command}`,
      (command) => `{ ! ${command}; }`,
      (command) => `A[$(${command})]=1`,
    ];
    const wrappers: readonly string[] = ["", "sudo ", "env A=b ", "timeout 5 nice -n 3 ", "A=b exec ", "xargs "];
    const quotings: readonly ((word: string) => string)[] = [
      (word) => word,
      (word) => `'${word}'`,
      (word) => `${word.slice(0, 1)}""${word.slice(1)}`,
      (word) => `\\${word}`,
      (word) => `/bin/${word}`,
    ];
    const command = fc.constantFrom(
      ["rm", "-rf src"],
      ["git", "reset --hard"],
      ["cat", ".env"],
      ["mkfs", "/dev/sda"],
      ["shutdown", "now"],
    );
    fc.assert(
      fc.property(
        command,
        fc.constantFrom(...quotings),
        fc.constantFrom(...wrappers),
        fc.array(fc.constantFrom(...places), { maxLength: 3 }),
        ([name = "", rest = ""], quote, wrapper, around) => {
          const text = around.reduce((inner, place) => place(inner), `${wrapper}${quote(name)} ${rest}`);
          expect(verdict(text), text).toBe("deny");
        },
      ),
      { numRuns: 1_000 },
    );
  });

  it("stays quick on hostile input", () => {
    // Of the processor, so that a busy machine makes no difference: quadratic work would take minutes.
    const start = process.cpuUsage();
    for (const text of [
      "$(".repeat(20_000),
      `${"a".repeat(60_000)}`,
      `echo ${"{a,b}".repeat(2_000)}`,
      "ls;".repeat(20_000),
      `cat ${"*".repeat(3_000)}`,
      "((".repeat(10_000),
      "cd a;".repeat(10_000),
      `x=a;${"x=$x$x;".repeat(200)}cat $x`,
      `x${"=$x$x".repeat(500)}; `.repeat(20),
    ])
      analyse(text);
    expect(process.cpuUsage(start).user / 1_000).toBeLessThan(24_000);
  });
});
