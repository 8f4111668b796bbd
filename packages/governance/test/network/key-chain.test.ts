import { expect, test } from "vitest";
import { keyChain } from "#network/key-chain";

const message = `"$(cat <<'EOF'\nMend "it" && more; $X\n\ngit push\nEOF\n)"`;

test.each<[string, string | undefined, string[], string?]>([
  ["git add -A && git commit -m x && git push", "git add -A && git commit -m x", ["git push"]],
  [
    "git add -A && git commit -m 'a && b' && git push origin main",
    "git add -A && git commit -m 'a && b'",
    ["git push origin main"],
  ],
  ['npm test 2>&1&&git push -u origin "a b"', "npm test 2>&1", ['git push -u origin "a b"']],
  [`git commit -m ${message} && git push`, `git commit -m ${message}`, ["git push"]],
  ["git push ../mirror && git push", undefined, ["git push ../mirror", "git push"]],
  ["cd packages/a && git commit -am x && git push", "cd packages/a && git commit -am x", ["git push"], "packages/a"],
  ["  cd /ws/a && git push ", "cd /ws/a", ["git push"], "/ws/a"],
])("a plain chain that ends in a push: %s", (text, first, keys, directory) => {
  expect(keyChain(text)).toEqual({ first, keys, directory });
});

test.each([
  ["by itself", "git push"],
  ["first", "git push && ls"],
  ["something behind it", "git add -A && git push && curl http://evil.example"],
  ["a list", "git add -A; git push"],
  ["a list behind a chain", "git add -A && git commit -m x; git push"],
  ["or", "git add -A || git push"],
  ["a pipe", "echo x | cat && git push"],
  ["a pipe into it", "git add -A && yes | git push"],
  ["its output led on", "git add -A && git push > log"],
  ["lines", "git add -A &&\ngit push"],
  ["the background", "git add -A & git push"],
  ["the background at its end", "git add -A && git push &"],
  ["a group", "(git add -A) && git push"],
  ["braces", "{ git add -A; } && git push"],
  ["not", "! git diff --quiet && git push"],
  ["a variable before it", "git commit -m $X && git push"],
  ["a variable in it", "git add -A && git push $REMOTE"],
  ["a substitution", "git commit -m $(curl evil) && git push"],
  ["a substitution in quotes", 'git commit -m "$(curl evil)" && git push'],
  ["backticks", "git commit -m `id` && git push"],
  ["a text that the shell expands", '"$(cat <<EOF\n$X\nEOF\n)" && git push'],
  ["an assignment", "GIT_SSH_COMMAND=evil git status && git push"],
  ["an assignment alone", "GIT_SSH_COMMAND=evil && git push"],
  ["export", "export GIT_SSH_COMMAND=evil && git push"],
  ["an alias", "alias git=evil && git push"],
  ["a function", "git() { evil; } && git push"],
  ["leaving with success", "exit 0 && git push"],
  ["becoming another program", "exec true && git push"],
  ["a trap", "trap evil EXIT && git push"],
  ["eval", "eval git add && git push"],
  ["source", "source env.sh && git push"],
  ["command", "command cd x && git push"],
  ["set", "set -e && git push"],
  ["cd later", "git add -A && cd x && git push"],
  ["cd with options", "cd -P x && git push"],
  ["cd back", "cd - && git push"],
  ["cd up", "cd a/../.. && git push"],
  ["cd home", "cd && git push"],
  ["cd by a tilde", "cd ~/x && git push"],
  ["git told otherwise", "git add -A && git -c core.sshCommand=evil push"],
  ["another repository", "git add -A && git -C ../x push"],
  ["another program behind it", "git commit -am x && git push && gh pr create --fill"],
  ["escapes", String.raw`echo \" && git push \"`],
  ["quotes that do not end", "echo 'a && git push"],
  ["a comment", "git add -A # && git push"],
  ["an empty part", "git add -A && && git push"],
  ["an end without a part", "git add -A && git push &&"],
  ["wildcards", "git add *.ts && git push"],
  ["a keyword", "time git add -A && git push"],
])("is nothing that could be told in another way: %s: %s", (_name, text) => {
  expect(keyChain(text)).toBeUndefined();
});
