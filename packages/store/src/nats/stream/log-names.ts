/** What a log is called in NATS: all of it begins with its namespace. */
export function logStreamName(namespace: string): string {
  return `${namespace}_log`;
}

export function replicaStreamName(namespace: string): string {
  return `${namespace}_replicas`;
}

/** Of a replica's signs of life; `*` for everybody's. */
export function replicaSubject(namespace: string, replicaId: string): string {
  return `${namespace}.replica.${replicaId}`;
}

/** Whose sign of life it is. */
export function replicaOfSubject(subject: string): string {
  return subject.slice(subject.lastIndexOf(".") + 1);
}
