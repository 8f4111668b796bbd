import type { SeededRandom } from "@gennai/testkit/seeded-random";

/** Files of the scratch workspace that commands name. */
const existing = [
  ...["a.txt", "b.txt", "src/a.ts", "src/b.ts", "docs/n.md", "'sp ace.txt'", "list", "./a.txt", "src/../b.txt"],
] as const;
const made = [
  ...["new.txt", "src/new.ts", "docs/x", "out", "made/deep", '"q x"', "/tmp/t", "~/h", "$HOME/h2", "${TMPDIR}/v"],
] as const;
const directories = [".", "src", "docs", "src/", "/tmp", "empty"] as const;
const globs = ["*.txt", "src/*", "s?c/a.ts", "{a,b}.txt", "[ab].txt", "src/*.ts", "*"] as const;

/** One line of shell, made from a grammar: a command in wrappers, redirections, lists and substitutions. */
export function randomCommand(random: SeededRandom): string {
  return statement(random, 3);
}

function statement(random: SeededRandom, depth: number): string {
  if (depth === 0) return simple(random);
  const inner = (): string => statement(random, depth - 1);
  return random.pick<() => string>([
    () => simple(random),
    () => simple(random),
    () => redirected(random, simple(random)),
    () => redirected(random, simple(random)),
    () => `${inner()} && ${inner()}`,
    () => `${inner()} || ${inner()}`,
    () => `${inner()}; ${inner()}`,
    () => `${inner()} | ${inner()}`,
    () => `(${inner()})`,
    () => `{ ${inner()}; }`,
    () => redirected(random, `(${inner()})`),
    () => `echo "$(${inner()})"`,
    () => `cat <(${inner()})`,
    () => `cd ${random.pick(directories)} && ${inner()}`,
    () => `(cd ${random.pick(directories)}; ${inner()})`,
    () =>
      `for f in ${random.pick([...globs, "a.txt b.txt"])}; do ${random.pick(['cat "$f"', 'echo x > "$f"', "rm $f", 'touch "$f.bak"', 'cp "$f" /tmp'])}; done`,
    () => `if ${inner()}; then ${inner()}; fi`,
    () => `while read -r l; do ${random.pick(['echo "$l"', 'touch "$l"', 'rm -f "$l"'])}; done < list`,
    () => `v=${random.pick(made)}; ${random.pick(['echo x > "$v"', "touch $v", 'cp a.txt "$v"', "mkdir -p $v"])}`,
    () => `f() { ${inner()}; }; f`,
    () =>
      `${random.pick(["env A=1", "nice", "timeout 5", "command", "time", "nohup", "env -C src", "stdbuf -o0"])} ${simple(random)}`,
    () => `bash -c '${simple(random).replaceAll("'", "")}'`,
    () => `eval '${simple(random).replaceAll("'", "")}'`,
    () => `cat <<EOF > ${random.pick(made)}\n${random.pick(["text", "$(touch here.txt)", "`rm -f b.txt`"])}\nEOF`,
    () => `sh <<'EOF'\n${simple(random)}\nEOF`,
    () => `! ${inner()}`,
    () => `case x in x) ${inner()};; esac`,
    () => `x=$(${inner()}); echo "$x"`,
    () => `[[ -n $(${inner()}) ]]`,
    () => `coproc ${simple(random)}; wait`,
  ])();
}

function redirected(random: SeededRandom, command: string): string {
  const operator = random.pick([">", ">>", ">|", "2>", "&>", "<", "> /dev/null 2>", "1<>", "{fd}>"] as const);
  return `${command} ${operator} ${random.pick(operator === "<" ? existing : [...made, ...made, "a.txt", "src/b.ts"])}`;
}

function simple(random: SeededRandom): string {
  const old = () => random.pick([...existing, ...existing, ...globs]);
  const fresh = () => random.pick(made);
  const any = () => random.pick([...existing, ...made]);
  return random.pick<() => string>([
    () => `cat ${old()}`,
    () => `cat -A ${old()} ${old()}`,
    () => `head -n1 ${old()}`,
    () => `ls -la ${random.pick(directories)}`,
    () => `grep -rn a ${random.pick(directories)}`,
    () => `wc -l ${old()}`,
    () => `sort ${old()}`,
    () => `sort -o ${any()} ${old()}`,
    () => `sort -u ${old()} -o${any()}`,
    () => `uniq ${old()} ${any()}`,
    () => `uniq ${old()}`,
    () => `sed -n p ${old()}`,
    () => `sed s/a/b/ ${old()}`,
    () => `sed -i s/a/b/ ${old()}`,
    () => `sed -i.bak s/a/b/ ${old()}`,
    () => `sed -n 'w ${random.pick(["out", "src/w.txt"])}' ${old()}`,
    () => `sed --expression='s/a/b/w out2' a.txt`,
    () => `awk '{print}' ${old()}`,
    () => `awk '{print > "aw.txt"}' ${old()}`,
    () => `awk 'BEGIN { printf "x" >> "aw2.txt" }'`,
    () => `cp ${old()} ${any()}`,
    () => `cp -r src ${any()}`,
    () => `cp -t docs ${old()}`,
    () => `cp --target-directory=docs a.txt`,
    () => `cp --backup a.txt ${any()}`,
    () => `mv ${old()} ${any()}`,
    () => `mv -t docs ${old()}`,
    () => `rm ${old()}`,
    () => `rm -f ${any()}`,
    () => `rm -r ${random.pick(["src", "docs", "empty", "/tmp/t"])}`,
    () => `rmdir empty`,
    () => `touch ${any()}`,
    () => `touch -d yesterday ${any()}`,
    () => `touch -r a.txt ${any()}`,
    () => `mkdir -p ${fresh()}`,
    () => `mkdir -m 700 ${fresh()}`,
    () => `ln -s a.txt ${fresh()}`,
    () => `ln src/a.ts`,
    () => `ln -sf ../b.txt src`,
    () => `install -m 644 a.txt ${any()}`,
    () => `install -d ${fresh()}`,
    () => `install -D a.txt ${fresh()}/x`,
    () => `tee ${any()} < a.txt`,
    () => `echo x | tee -a ${any()} out3`,
    () => `truncate -s ${random.pick(["0", "+1"])} ${any()}`,
    () => `dd if=a.txt of=${fresh()} status=none`,
    () => `split -l 1 a.txt ${random.pick(["", "src/p-", "part"])}`,
    () => `csplit -s a.txt 2`,
    () => `chmod ${random.pick(["+x", "600", "u-w"])} ${old()}`,
    () =>
      `find . -name '*.txt' ${random.pick(["-print", "-delete", "-exec cat {} +", "-exec touch {}.f \\;", "-exec sed -i s/a/z/ {} +", "-fprint found", "-fprintf found2 %p", "-ok rm {} \\;", "-execdir rm {} \\;"])}`,
    () => `find src -type f ${random.pick(["-ls", "-exec rm {} \\;", "-exec cp {} docs \\;", "-exec chmod 600 {} +"])}`,
    () => `ls | xargs ${random.pick(["echo", "touch", "-I{} cp {} /tmp", "-n1 cat", "wc -c"])}`,
    () => `printf 'a.txt\\0' | xargs -0 ${random.pick(["rm", "cat", "sed -i s/a/b/"])}`,
    () => `xargs -a list ${random.pick(["touch", "rm -f", "echo"])}`,
    () =>
      `git ${random.pick(["status", "diff", "log --oneline", "show --stat", "ls-files", "branch -a", "stash list", "rev-parse HEAD", "blame a.txt", "grep -n a", "cat-file -p HEAD", "diff --output=gd.txt", "log --output=gl.txt", "archive -o ga.tar HEAD", "format-patch -1 -o pa", "mv a.txt gm.txt", "rm -q b.txt", "checkout -q -b br", "stash -q", "add .", "tag v1", "branch nb", "config user.name x", "init -q sub", "clean -n"])}`,
    () => `tar cf ${fresh()} src`,
    () => `tar czf - src`,
    () => `gzip -k ${random.pick(["a.txt", "src/a.ts"])}`,
    () => `gzip ${random.pick(["a.txt", "b.txt"])}`,
    () => `diff a.txt b.txt`,
    () => `xxd a.txt ${random.pick(["", "xx.hex"])}`,
    () => `base64 a.txt`,
    () => `cmp a.txt b.txt`,
    () => `printf '%s\\n' x y`,
    () => `printf -v z x`,
    () => `echo ${old()}`,
    () => `test -f ${any()}`,
    () => `read -r q < ${random.pick(existing)}`,
    () => `mapfile -t m < list`,
    () => `: \${unset:=y}`,
    () => `patch -s a.txt < list`,
    () => `mktemp -p ${random.pick(["src", "/tmp"])}`,
    () => `shuf -o ${fresh()} a.txt`,
    () => `shred -u ${old()}`,
    () => `unlink a.txt`,
    () => `comm a.txt b.txt`,
    () => `tree -o tr.txt`,
    () => `python3 -c "open('py.txt','w')"`,
    () => `perl -pi -e s/a/b/ a.txt`,
  ])();
}
