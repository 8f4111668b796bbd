import { once } from "node:events";
import { connect, createServer } from "node:net";
import { buffer } from "node:stream/consumers";
import { listenInside } from "@gennai/egress/network/listen-inside";
import { expect, test } from "vitest";
import { parseListening } from "#background/mirrored-ports";
import { reachInside } from "#background/reach-inside";

/** As Linux prints it: one that listens on the loopback, everywhere, for one address more, and a connection. */
const table = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:10E1 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 1 1 0 100 0 0 10 0
   1: 3500007F:EE98 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 2 1 0 100 0 0 10 0
   2: 0100007F:1538 0100007F:A0B2 01 00000000:00000000 00:00000000 00000000     0        0 3 1 0 100 0 0 10 0
   3: 00000000:0BB8 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4 1 0 100 0 0 10 0
  sl  local_address                         remote_address                        st tx_queue rx_queue
   0: 00000000000000000000000000000000:1F90 00000000000000000000000000000000:0000 0A 00000000:00000000 00:00000000 0
   1: 00000000000000000000000001000000:1F91 00000000000000000000000000000000:0000 0A 00000000:00000000 00:00000000 0
`;

test("what listens on the loopback or everywhere is told apart from connections and other addresses", () => {
  expect([...parseListening(table)]).toEqual([4321, 3000, 8080, 8081]);
  expect([...parseListening("")]).toEqual([]);
});

/** Two networks that are one: what is passed between them is the same. */
const here = { joinArguments: [] } as never;

test.runIf(process.platform === "linux")("no byte is lost between a port and its mirror", async () => {
  await using echo = createServer({ allowHalfOpen: true }, (socket) => socket.pipe(socket)).listen(0, "127.0.0.1");
  await once(echo, "listening");
  const { port } = echo.address() as { readonly port: number };
  const inside = reachInside(here, port);
  const accept = inside.take.bind(inside);
  const { servers } = await listenInside(here, {
    tcp: [{ address: "127.0.0.1", port: 0 }],
    accept,
    pauseOnConnect: true,
  });
  const mirrored = servers[0]?.server.address() as { readonly port: number };
  const answers = Array.from({ length: 50 }, async (_, at) => {
    const socket = connect(mirrored.port, "127.0.0.1");
    // At once, while the connection is still being passed on.
    socket.end(`message ${at}`);
    return String(await buffer(socket));
  });
  expect(await Promise.all(answers)).toEqual(Array.from({ length: 50 }, (_, at) => `message ${at}`));
  for (const { server } of servers) server.close();
  await inside.close();
});
