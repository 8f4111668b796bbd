// Run as a program: a user who works in a workspace until its input ends, and then says what was saved last, by path.
import { mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const [root = "", round = ""] = process.argv.slice(2);
const saved = new Map<string, string | null>();
let isOver = false;
process.stdin.on("end", () => {
  isOver = true;
});
process.stdin.resume();

const kinds = [save, saveByRename, create, move, remove];
for (let count = 0; !isOver; count += 1) {
  // In some rounds the user works on the same files as the command, in others beside it and rarely or never on one of them.
  const isBeside = Number(round) % 3 !== 0 && (Number(round) % 5 === 1 || (count + Number(round)) % 23 !== 22);
  const number = ((count * 7 + Number(round) * 5) % 24) + (isBeside ? 100 : 0);
  kinds[(count + Number(round)) % kinds.length]?.(`src/${number}.txt`, `user ${round} ${count}`);
  if (count === 3) save("ready", "user");
  // Lets the end of the input through.
  await new Promise((resolve) => setTimeout(resolve, count % 3));
}
process.stdout.write(JSON.stringify([...saved].map(([path, text]) => ({ path, text }))));

/** As editors do that keep the file. */
function save(path: string, text: string): void {
  writeFileSync(join(root, path), text);
  saved.set(path, text);
}

/** As editors do that write a new one. */
function saveByRename(path: string, text: string): void {
  writeFileSync(join(root, "src/.swap"), text);
  renameSync(join(root, "src/.swap"), join(root, path));
  saved.set(path, text);
}

function create(_path: string, text: string): void {
  const directory = Number(round) % 3 === 0 ? "made" : "own";
  const path = `${directory}/${text.replaceAll(" ", "-")}.txt`;
  mkdirSync(join(root, directory), { recursive: true });
  save(path, text);
}

/** Only what was saved by this user: another name would say nothing. */
function move(path: string, _text: string): void {
  const text = saved.get(path);
  if (text === undefined || text === null) return;
  renameSync(join(root, path), join(root, `${path}.moved`));
  saved.set(`${path}.moved`, text);
  saved.set(path, null);
}

function remove(path: string, _text: string): void {
  rmSync(join(root, path), { force: true });
  saved.set(path, null);
}
