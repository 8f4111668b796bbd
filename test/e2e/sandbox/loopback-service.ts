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
export async function loopbackService(pages: Readonly<Record<string, string>>) {
  const child = spawn(process.execPath, ["-e", program, JSON.stringify(pages)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const lines: string[] = [];
  child.stdout.on("data", (text: Buffer) => lines.push(...text.toString().trim().split("\n")));
  await once(child.stdout, "data");
  return {
    port: Number(lines[0]),
    /** Paths, in the order in which they were asked for. */
    get asked(): readonly string[] {
      return lines.slice(1);
    },
    [Symbol.dispose]: () => void child.kill(),
  };
}
