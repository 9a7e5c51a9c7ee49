/** The benchmark programs as plain JS: the floor no interpreter on this engine gets under. */

type Node = { value: number; children: Node[] };

function fib(n: number): number {
  let a = 0;
  let b = 1;
  for (let i = 0; i < n; i++) [a, b] = [b, (a + b) % 1_000_007];
  return a;
}

function build(depth: number): Node {
  const root: Node = { value: 1, children: [] };
  let level = [root];
  for (let d = 0; d < depth; d++) {
    const below: Node[] = [];
    for (const node of level) {
      for (let k = 0; k < 3; k++) {
        const child: Node = { value: d * 3 + k, children: [] };
        node.children.push(child);
        below.push(child);
      }
    }
    level = below;
  }
  return root;
}

const tree = build(6);
const text = "the quick brown fox jumps over the lazy dog and then the dog sleeps while the fox runs on";
const lines = [
  "The quick brown fox jumps over the lazy dog, and then the dog sleeps;",
  "while the fox runs on, the lazy dog dreams of a quick brown fox.",
  '"Is it over?" asked the dog. "It is," said the fox (quickly), and ran.',
];
const denied = ["rm -rf", "mkfs", "shutdown"];
const payload = { name: "shell", args: { command: "git status --short" }, risk: 3, path: "/work/src/main.ts" };

function onTool(event: string): Record<string, unknown> | null {
  const { name } = payload;
  if (name !== "shell") return null;
  const command = payload.args.command;
  for (const word of denied)
    if (command.includes(word)) return { decision: "deny", reason: `command contains ${word}` };
  if (command.startsWith("git push") && command.includes("--force")) return { decision: "ask", reason: "force push" };
  return { decision: "allow", tags: [name, event] };
}

export const plainPrograms: Readonly<Record<string, (n: number) => unknown>> = {
  fib(n) {
    let total = 0;
    for (let i = 0; i < n; i++) total += fib(50 + (i % 10));
    return total;
  },
  sieve(n) {
    const composite = new Array<boolean>(n + 1).fill(false);
    const primes: number[] = [];
    for (let i = 2; i <= n; i++) {
      if (composite[i]) continue;
      primes.push(i);
      for (let j = i * i; j <= n; j += i) composite[j] = true;
    }
    return primes.length;
  },
  strings(n) {
    const parts: string[] = [];
    let line = "";
    for (let i = 0; i < n; i++) {
      line += `item ${i};`;
      if (i % 50 !== 49) continue;
      parts.push(line.toUpperCase());
      line = "";
    }
    return parts.join("\n").replaceAll("ITEM", "x").split("\n").length;
  },
  words(n) {
    const counts = new Map<string, number>();
    for (let i = 0; i < n; i++) {
      for (const word of text.split(" ")) {
        const key = i % 2 === 0 ? word.replace(/^[.,]+|[.,]+$/g, "") : word;
        counts.set(key, (counts.get(key) ?? 0) + 1);
      }
    }
    return [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1))[0]?.[1];
  },
  wordcount(n) {
    const all = Array.from({ length: n }, (_, i) => (lines[i % 3] ?? "").replaceAll("fox", `fox${i % 200}`)).join("\n");
    const counts = new Map<string, number>();
    let longest = "";
    for (const line of all.split("\n")) {
      for (const part of line.split(/\s+/)) {
        const word = part.replace(/^[.,;?()"]+|[.,;?()"]+$/g, "").toLowerCase();
        if (word === "") continue;
        counts.set(word, (counts.get(word) ?? 0) + 1);
        if (word.length > longest.length) longest = word;
      }
    }
    const [top] = [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
    return `${top?.[0]}:${top?.[1]}:${counts.size}:${longest}`;
  },
  sorting(n) {
    const rows = Array.from({ length: n }, (_, i) => ({ id: (i * 7919) % n, name: `row${i % 97}` }));
    const byId = rows.toSorted((a, b) => a.id - b.id);
    const byName = rows.toSorted((a, b) => (a.name < b.name ? 1 : a.name > b.name ? -1 : 0));
    return (byId[0]?.id ?? 0) + byName.length;
  },
  comprehensions(n) {
    let total = 0;
    for (let k = 0; k < n; k++) {
      const grid = Array.from({ length: 30 }, (_, y) => Array.from({ length: 30 }, (_unused, x) => x * y));
      const flat = grid.flat().filter((v) => v % 3 === 0);
      total += new Map(flat.map((v, i) => [v, i])).size;
    }
    return total;
  },
  calls(n) {
    const scale = (x: number, by = 2): number => x * by;
    const add = (a: number, b: number): number => a + b;
    const step = (x: number): number => add(scale(x), scale(x, 3)) % 1009;
    let x = 1;
    for (let i = 0; i < n; i++) x = step(x) + 1;
    return x;
  },
  tree(n) {
    let result = 0;
    for (let k = 0; k < n; k++) {
      const stack = [tree];
      for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
        result += node.value;
        for (const child of node.children) stack.push(child);
      }
    }
    return result;
  },
  bigints(n) {
    let x = 1n;
    for (let i = 1; i < n; i++) x *= BigInt(i + 1_000_003);
    let total = 0n;
    for (let i = 0; i < n; i++) total = (total * 31n + x / BigInt(i + 1)) % 1_000_000_000_000_000_000_007n;
    return total % 1_000_003n;
  },
  factorial(n) {
    let product = 1n;
    for (let i = 2; i < n; i++) product *= BigInt(i);
    let digits = 0;
    for (const c of product.toString()) digits += Number(c);
    const prime = (1n << 255n) - 19n;
    for (let i = 0; i < Math.floor(n / 10); i++) {
      let [base, result] = [(product % prime) + BigInt(i), 1n];
      for (let bit = 0n; bit < 256n; bit++) {
        if (((prime - 2n) >> bit) & 1n) result = (result * base) % prime;
        base = (base * base) % prime;
      }
      digits += Number(result % 1000n);
    }
    return digits;
  },
  hook(n) {
    let result: Record<string, unknown> | null = null;
    for (let i = 0; i < n; i++) result = onTool("tool.before");
    return Object.keys(result ?? {}).length;
  },
  when(n) {
    let hits = 0;
    for (let i = 0; i < n; i++) {
      if (["shell", "write", "edit"].includes(payload.name) && payload.path.endsWith(".ts") && payload.risk > 2) hits++;
    }
    return hits;
  },
};
