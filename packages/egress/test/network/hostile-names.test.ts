import { execFileSync } from "node:child_process";
import { systemProgram } from "@gennai/stage/transaction/system-program";
import { TestOutside } from "@gennai/testkit/test-outside";
import { expect, test } from "vitest";
import { WatchedFixture } from "./watched-fixture.ts";

/** Needs a right that no command has. A question from port 0, to which nobody can answer, and bytes that are no question. */
const sender = `
import os, socket, struct
question = b"\\x12\\x34\\x01\\0\\0\\1\\0\\0\\0\\0\\0\\0" + b"\\4some\\7example\\0\\0\\1\\0\\1"
raw = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_UDP)
for bytes in [question, question[:-1], b"", os.urandom(400), question.replace(b"some", b"\\0\\xff\\r\\n")]:
    raw.sendto(struct.pack("!HHHH", 0, 53, 8 + len(bytes), 0) + bytes, ("127.0.0.53", 0))
    plain = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    plain.sendto(bytes, ("127.0.0.53", 53))
`;

test("no question to the name server ends it, no matter who asks", async () => {
  using fixture = await WatchedFixture.open(new TestOutside());
  using _use = await fixture.watched.use();
  const { joinArguments } = fixture.watched.network;
  execFileSync(systemProgram("nsenter"), [...joinArguments, "--", "python3", "-c", sender]);
  const { output } = await fixture.run(`python3 -c 'import socket; print(socket.gethostbyname("a.example"))'`);
  expect(output).toMatch(/^127\.77\.\d+\.\d+$/m);
});
