import { programWithPort } from "../loopback-service.ts";

/** As much of PostgreSQL's protocol (version 3) as one simple query takes. */
const program = `
const message = (type, ...parts) => {
  const body = Buffer.concat(parts);
  const head = Buffer.alloc(5);
  head.write(type);
  head.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
};
const text = (value) => Buffer.from(value + "\\0");
const int16 = (value) => { const bytes = Buffer.alloc(2); bytes.writeInt16BE(value); return bytes; };
const int32 = (value) => { const bytes = Buffer.alloc(4); bytes.writeInt32BE(value); return bytes; };
const ready = message("Z", Buffer.from("I"));
const server = require("node:net").createServer((socket) => {
  let [pending, begun] = [Buffer.alloc(0), false];
  socket.on("error", () => socket.destroy());
  socket.on("data", (bytes) => {
    pending = Buffer.concat([pending, bytes]);
    for (;;) {
      const head = begun ? 1 : 0;
      if (pending.length < head + 4) return;
      const length = head + pending.readInt32BE(head);
      if (pending.length < length) return;
      const [one, body] = [pending.subarray(0, length), pending.subarray(head + 4, length)];
      pending = pending.subarray(length);
      if (!begun && body.readInt32BE(0) !== 196608) { socket.write("N"); continue; }
      if (!begun) {
        begun = true;
        const settings = { server_version: "16.0", client_encoding: "UTF8", standard_conforming_strings: "on" };
        const said = Object.entries(settings).map(([name, value]) => message("S", text(name), text(value)));
        socket.write(Buffer.concat([message("R", int32(0)), ...said, message("K", int32(1), int32(1)), ready]));
      } else if (String.fromCharCode(one[0]) === "Q") {
        console.log(body.toString().replace(/\\0$/, ""));
        const column = message("T", int16(1), text("answer"), int32(0), int16(0), int32(25), int16(-1), int32(-1), int16(0));
        const row = message("D", int16(1), int32(9), Buffer.from("forty-two"));
        socket.write(Buffer.concat([column, row, message("C", text("SELECT 1")), ready]));
      } else socket.end();
    }
  });
});
server.listen(0, "127.0.0.1", () => console.log(server.address().port));`;

/** What any client of it does first: asks for TLS, then begins, asks, and reads. For machines without psql. */
export const postgresClient = `
import { connect } from "node:net";
const [host, port, query] = process.argv.slice(2);
const framed = (type, body) => { const size = Buffer.alloc(4); size.writeInt32BE(body.length + 4); return Buffer.concat([Buffer.from(type), size, body]); };
const socket = connect(Number(port), host);
socket.on("error", (error) => { console.error(\`connection to server at "\${host}", port \${port} failed: Connection refused (\${error.code})\`); process.exit(2); });
socket.write(framed("", Buffer.from([0x04, 0xd2, 0x16, 0x2f])));
socket.once("data", () => {
  socket.write(framed("", Buffer.concat([Buffer.from([0, 3, 0, 0]), Buffer.from("user\\0me\\0\\0")])));
  socket.write(framed("Q", Buffer.from(query + "\\0")));
  let answer = "";
  socket.on("data", (bytes) => { answer += bytes.toString("latin1"); if (answer.includes("SELECT 1\\0")) { console.log(/forty-two/.exec(answer)?.[0]); socket.end(framed("X", Buffer.alloc(0))); } });
});
`;

/** A database of this machine that belongs to another program. */
export async function postgresService() {
  return programWithPort(program);
}
