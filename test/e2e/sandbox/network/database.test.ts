import { existsSync } from "node:fs";
import { bash } from "@gennai/testkit/scripted-steps";
import { startTestServer } from "@gennai/testkit/test-server";
import { expect, test } from "vitest";
import { AskedSession } from "../asked-session.ts";
import { postgresClient, postgresService } from "./postgres-service.ts";

/** By client: psql itself where the machine has it, and always a program that speaks as it does. */
const clients: readonly (readonly [name: string, command: (port: number) => string])[] = [
  ["a client of node's", (port) => `node client.mjs localhost ${port} 'select answer'`],
  ...(existsSync("/usr/bin/psql")
    ? [["psql", (port: number) => `psql -w -h localhost -p ${port} -U me -At -c 'select answer' db`] as const]
    : []),
];

test.each(clients)(
  "%s reaches a database on this machine's loopback by one yes, which holds once",
  async (_name, client) => {
    using database = await postgresService();
    using other = await postgresService();
    const commands = [client(database.port), client(database.port), client(other.port)];
    await using server = await startTestServer({
      files: { "client.mjs": postgresClient },
      script: commands.map((command) => ({ steps: [bash(command), { text: ["Done."] }] })),
      server: { commands: "staged" },
    });
    await using session = await AskedSession.start(server);

    const first = await session.turn("once");
    expect(first.questions[0]?.title, first.output).toContain(`reach 127.0.0.1:${database.port}?`);
    expect(first.output).toContain("forty-two");
    expect(first.output).toMatch(new RegExp(`\\[reached 127\\.0\\.0\\.1:${database.port}: \\d+ bytes sent`));
    expect(first.questions[0]?.impactStatement).toContain("is a service on the server's own machine");
    for (const refused of [await session.turn("no"), await session.turn("no")]) {
      expect(refused.questions).toHaveLength(1);
      expect(refused.output).not.toContain("forty-two");
    }
    expect(database.asked).toEqual(["select answer"]);
    expect(other.asked).toEqual([]);
  },
);
