import { readFileSync } from "node:fs";
import { backends } from "@gennai/protocol/model/session/backend";
import { describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { commandTable } from "../src/command-table.ts";

vi.mock("vscode", () => ({ DiagnosticSeverity: {}, Uri: { parse: (text: string) => text } }));

const manifest = z
  .object({
    activationEvents: z.array(z.string()),
    capabilities: z.object({ untrustedWorkspaces: z.object({ supported: z.string() }) }),
    contributes: z.object({
      commands: z.array(z.object({ command: z.string(), category: z.string(), title: z.string() })),
      menus: z.record(
        z.string(),
        z.array(
          z.union([z.object({ command: z.string(), when: z.string().optional() }), z.object({ submenu: z.string() })]),
        ),
      ),
      submenus: z.array(z.object({ id: z.string(), label: z.string() })),
      keybindings: z.array(z.object({ command: z.string() })),
      configuration: z.object({
        properties: z.record(z.string(), z.object({ scope: z.string(), enum: z.array(z.string()).optional() })),
      }),
    }),
  })
  .parse(JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")));

const { commands, menus, submenus, keybindings, configuration } = manifest.contributes;

describe("the manifest", () => {
  it("names every command there is, under Gennai", () => {
    const named = commands.map(({ command }) => command);
    expect(named.toSorted()).toEqual([...commandTable.keys()].map((id) => `gennai.${id}`).toSorted());
    const others = commands.filter(({ category }) => category !== "Gennai");
    expect(others.every(({ command }) => command.startsWith("gennai.rinawarp."))).toBe(true);
  });

  it("is woken by no window's start, only by something that it has a part in", () => {
    const { activationEvents } = manifest;
    expect(activationEvents.filter((event) => event === "*" || event === "onStartupFinished")).toEqual([]);
  });

  it("seed 000: knows the plan commands by their names in the RinaWarp extension, too", () => {
    const found = commands.filter(({ category }) => category === "RinaWarp").map(({ title }) => title);
    expect(found).toEqual(["Open Panel", "Plan", "Preview", "Approve", "Execute", "Verify", "Ping Daemon"]);
  });

  it("has every command of the palette in docs/vscode.md, which names no other", () => {
    const page = readFileSync(new URL("../../../docs/vscode.md", import.meta.url), "utf8").replaceAll(/\s+/g, " ");
    const named = [...page.matchAll(/_Gennai: ([^_]+)_/g)].map(([, title = ""]) => title);
    const all = commands.filter(({ category }) => category === "Gennai");
    const hidden = new Set(
      (menus["commandPalette"] ?? []).flatMap((entry) =>
        "command" in entry && entry.when === "false" ? [entry.command] : [],
      ),
    );
    const inPalette = all.filter(({ command }) => !hidden.has(command)).map(({ title }) => title);
    expect(named).toEqual(expect.arrayContaining(inPalette));
    expect(all.map(({ title }) => title)).toEqual(expect.arrayContaining(named));
  });

  it("has no menu or key for a command that is not there", () => {
    const used = [...Object.values(menus).flat(), ...keybindings].flatMap((entry) =>
      "command" in entry ? [entry.command] : [],
    );
    expect(commands.map(({ command }) => command)).toEqual(expect.arrayContaining(used));
  });

  it("calls every submenu Gennai, shows each somewhere, and puts something into it", () => {
    const shown = Object.values(menus)
      .flat()
      .flatMap((entry) => ("submenu" in entry ? [entry.submenu] : []));
    const ids = submenus.map(({ id }) => id);
    expect([...new Set(shown)].sort()).toEqual([...ids].sort());
    expect(submenus.map(({ label }) => label)).toEqual(ids.map(() => "Gennai"));
    expect(ids.filter((id) => menus[id] === undefined)).toEqual([]);
  });

  it.each(["baseUrl", "serverCommand", "governance.commands"])("lets no workspace set gennai.%s", (name) => {
    expect(configuration.properties[`gennai.${name}`]?.scope).toBe("machine");
  });

  it("offers every backend", () => {
    expect(configuration.properties["gennai.defaultBackend"]?.enum).toEqual(["", ...backends]);
  });

  it("is limited in workspaces that are not trusted", () => {
    expect(manifest.capabilities.untrustedWorkspaces.supported).toBe("limited");
  });
});
