import { spawn } from "node:child_process";
import { once } from "node:events";

const program = `
const pages = JSON.parse(process.argv[1]);
const server = require("node:http").createServer(({ url }, response) => {
  console.log(url);
  if (!(url in pages)) response.statusCode = 404;
  response.end(pages[url] ?? "");
});
server.listen(0, "127.0.0.1", () => console.log(server.address().port));`;

/** A service of this machine that belongs to another program. @param pages what it answers, by path */
export function loopbackService(pages: Readonly<Record<string, string>>) {
  return programWithPort(program, JSON.stringify(pages));
}

/** A program that prints its port, and then what it is asked. */
async function programWithPort(text: string, ...words: readonly string[]) {
  const child = spawn(process.execPath, ["-e", text, ...words], { stdio: ["ignore", "pipe", "inherit"] });
  const lines: string[] = [];
  child.stdout.on("data", (bytes: Buffer) => lines.push(...bytes.toString().trim().split("\n")));
  await once(child.stdout, "data");
  return {
    port: Number(lines[0]),
    /** In the order in which it was asked. */
    get asked(): readonly string[] {
      return lines.slice(1);
    },
    [Symbol.dispose]: () => void child.kill(),
  };
}
