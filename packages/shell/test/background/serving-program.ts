// Run as a program: starts a server in the background of a new workspace, says where, and waits to be killed.
import { BackgroundFixture } from "./background-fixture.ts";

const [port = ""] = process.argv.slice(2);
const fixture = await BackgroundFixture.open({ "a.txt": "one\n" });
await fixture.start(`python3 -u -m http.server ${port} 2>&1`, "Serving HTTP");
process.stdout.write(`${fixture.stage.base}\n`);
setInterval(() => undefined, 1_000);
