/** Random programs that print what expressions give or why they fail. Seeded, so that a finding can be found again. */

/** A small generator of pseudo-random numbers (mulberry32). */
export function randomSource(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return Math.floor((((t ^ (t >>> 14)) >>> 0) / 4294967296) * below);
  };
}

const atoms = [
  "None",
  "True",
  "False",
  "0",
  "1",
  "-1",
  "2",
  "7",
  "-13",
  "255",
  "4294967296",
  "9007199254740993",
  "-36893488147419103232",
  "0.0",
  "1.5",
  "-2.25",
  "1e100",
  "0.1",
  "1e-7",
  "123456789.0",
  '""',
  '"a"',
  '"abc"',
  '"Hello, World"',
  '"  x y  "',
  '"h\u00e9llo"',
  '"\u4e16\u754c"',
  '"a,b,,c"',
  '"\\t\\n\\\\"',
  '"%s and %d"',
  '"{} {0} {x}"',
  "[]",
  "[1, 2, 3]",
  '["b", "a", "c"]',
  "[[1], [2, [3]]]",
  "()",
  "(1,)",
  '(1, "two", 3.0)',
  "{}",
  '{"a": 1, "b": [2]}',
  "{1: 2, (1, 2): 3}",
  "set([3, 1, 2])",
  "set()",
  "range(5)",
  "range(10, 0, -3)",
  "len",
  "struct(a = 1, b = [2])",
];

const operators = [
  "+",
  "-",
  "*",
  "/",
  "//",
  "%",
  "|",
  "&",
  "^",
  "<<",
  ">>",
  "==",
  "!=",
  "<",
  "<=",
  ">",
  ">=",
  "in",
  "not in",
  "and",
  "or",
];
const unary = ["-", "+", "~", "not "];
const functions = [
  "abs_",
  "any",
  "all",
  "bool",
  "chr",
  "dict",
  "dir",
  "enumerate",
  "float",
  "hash",
  "int",
  "len",
  "list",
  "max",
  "min",
  "ord",
  "range",
  "repr",
  "reversed",
  "set",
  "sorted",
  "str",
  "tuple",
  "type",
  "zip",
];
/** Receivers with methods that suit them, so that most calls get past the lookup. */
const receivers: readonly (readonly [string, string])[] = [
  [
    '"" "a" "abc" "Hello,World" "h\u00e9llo" "\u4e16\u754c" "a,b,,c" "%s" "{}{0}" "aXbXc" "12" "\\t\\n"',
    "capitalize codepoints count elem_ords elems endswith find format index isalnum isalpha isdigit islower isspace istitle isupper join lower lstrip partition replace rfind rindex rpartition rsplit rstrip split splitlines startswith strip title upper",
  ],
  ["[] [1,2,3] [[1],2] [1,1.0,True]", "append clear extend index insert pop remove"],
  ['{} {"a":1,"b":[2]} {1:2,(1,2):3}', "clear get items keys pop popitem setdefault update values"],
  [
    "set() set([1]) set([3,1,2]) set([2.0,1,(1,2)])",
    "add clear difference discard intersection issubset issuperset pop remove symmetric_difference union update",
  ],
  ['b"" b"abc" b"\\xff"', "elems"],
];

/** One random expression of bounded depth. */
function randomExpression(random: (below: number) => number, depth: number): string {
  const pick = (list: readonly string[]): string => list[random(list.length)] ?? "None";
  if (depth <= 0 || random(5) === 0) return pick(atoms);
  const sub = (): string => randomExpression(random, depth - 1);
  const args = (max: number): string => Array.from({ length: random(max + 1) }, sub).join(", ");
  switch (random(11)) {
    case 0:
    case 1:
    case 2:
      return `((${sub()}) ${pick(operators)} (${sub()}))`;
    case 3:
      return `${pick(unary)}(${sub()})`;
    case 4:
      return `${pick(functions).replace("abs_", "len")}(${args(2)})`;
    case 5:
    case 6:
      return methodCall(random, args(3));
    case 7:
      return `(${sub()})[${sub()}]`;
    case 8:
      return `(${sub()})[${pick(["", "1", "-2"])}:${pick(["", "2", "-1"])}:${pick(["", "2", "-1"])}]`;
    case 9:
      return `[x for x in (${sub()})]`;
    default:
      return pick([
        `((${sub()}) if (${sub()}) else (${sub()}))`,
        `[${args(3)}]`,
        `(${sub()}, ${sub()})`,
        `{${sub()}: ${sub()}}`,
      ]);
  }
}

function methodCall(random: (below: number) => number, args: string): string {
  const [values = "", methods = ""] = receivers[random(receivers.length)] ?? [];
  const other = receivers[random(20)];
  const pick = (list: string): string => list.split(" ")[random(list.split(" ").length)] ?? "";
  return `(${pick(values)}).${pick(other?.[1] ?? methods)}(${args})`;
}

const prelude = `def show(f):
    message = catch(f)
    print(repr(f()) if message == None else "error: " + message)

`;

/** A program of some expressions, each shown. */
export function randomProgram(seed: number, lines = 40): string {
  const random = randomSource(seed);
  return prelude + Array.from({ length: lines }, () => `show(lambda: ${randomExpression(random, 3)})\n`).join("");
}

const variables = ["a", "b", "c", "d"];

/** Statements that assign, loop and branch over a few variables; most programs end in an error with a traceback. */
class StatementWriter {
  private readonly random: (below: number) => number;
  readonly lines: string[] = [];

  constructor(random: (below: number) => number) {
    this.random = random;
  }

  private pick(list: readonly string[]): string {
    return list[this.random(list.length)] ?? "None";
  }

  private operand(): string {
    return this.random(2) === 0 ? this.pick(variables) : randomExpression(this.random, 1);
  }

  private expression(): string {
    switch (this.random(8)) {
      case 0:
        return `${this.operand()} ${this.pick(["+", "-", "*", "//", "%", "<", "==", "and", "or"])} (${this.operand()})`;
      case 1:
        return `[x for x in (${this.operand()}) if x != (${this.operand()})]`;
      case 2:
        return `helper(${this.operand()}, ${this.pick(["", "y = "])}${this.operand()})`;
      case 3:
        return `(lambda q: [q, ${this.pick(variables)}])(${this.operand()})`;
      case 4:
        return `{k: v for k, v in [(1, ${this.operand()})]}`;
      default:
        return this.operand();
    }
  }

  block(depth: number, indent: string): void {
    const n = 1 + this.random(4);
    for (let i = 0; i < n; i++) this.statement(depth, indent);
  }

  private statement(depth: number, indent: string): void {
    const v = this.pick(variables);
    const put = (text: string): number => this.lines.push(indent + text);
    switch (this.random(depth > 0 ? 9 : 6)) {
      case 0:
        put(`${v} ${this.pick(["+=", "-=", "*=", "|="])} ${this.operand()}`);
        break;
      case 1:
        put(`${v}, ${this.pick(variables)} = ${this.operand()}, ${this.operand()}`);
        break;
      case 2:
        put(`${v}[${this.operand()}] = ${this.operand()}`);
        break;
      case 3:
        put(`print(${this.expression()})`);
        break;
      case 6:
        put(`for ${v} in ${this.pick(["range(3)", "[1, 2]", "{1: 2, 3: 4}", this.operand()])}:`);
        this.block(depth - 1, `${indent}    `);
        if (this.random(3) === 0) put(`    ${this.pick(["break", "continue", "return a"])}`);
        break;
      case 7:
        put(`if ${this.expression()}:`);
        this.block(depth - 1, `${indent}    `);
        put("else:");
        this.block(depth - 1, `${indent}    `);
        break;
      case 8:
        put(`def inner(z = ${this.operand()}):`);
        put(`    return [z, ${this.pick(variables)}]`);
        put(`${v} = inner()`);
        break;
      default:
        put(`${v} = ${this.expression()}`);
    }
  }
}

/** A program with functions that call one another. */
export function randomStatements(seed: number): string {
  const writer = new StatementWriter(randomSource(seed));
  writer.lines.push("def helper(x, y = 1):", "    return [x, y] if x else x + y", "");
  for (const name of ["first", "second"]) {
    writer.lines.push(`def ${name}(a, b):`);
    writer.lines.push("    c = [a, b]");
    writer.block(2, "    ");
    writer.lines.push("    return c", "");
  }
  writer.lines.push("print(first(1, 2))", 'print(second("x", [3]))', "print(first([], first))", "");
  return writer.lines.join("\n");
}

const alphabets = [
  "ab ",
  "aAbB1 _-",
  "{}!rs:0x.[",
  "%sdrxocgef()a",
  "0123456789abxXoO+-",
  "0123456789.eE+-",
  "\u00e9\u00df\u4e16a\u0130\u01c6 \u00a0",
  '[]{},:"123truefalsnl. ',
  "\n\t a",
];

/** Calls of library functions with random texts and numbers, where parsing and formatting have their corners. */
export function randomLibrary(seed: number, lines = 40): string {
  const random = randomSource(seed);
  const pick = (list: readonly string[]): string => list[random(list.length)] ?? "";
  const text = (alphabet: string): string => {
    const units = [...alphabet];
    return JSON.stringify(Array.from({ length: random(9) }, () => units[random(units.length)] ?? "").join(""));
  };
  const any = (): string => text(pick(alphabets));
  const at = (i: number): string => text(alphabets[i] ?? "a");
  const int = (): string => pick(["0", "1", "-1", "2", "3", "-3", "7", "100", "-100", "None"]);
  const float = (): string =>
    `${pick(["-", ""])}${random(1000)}${pick(["", ".5", ".25", ".0078125"])}e${random(30) - 15}`;
  const value = (): string => pick([int(), float(), any(), "[1]", "(1, 2)", "True", `1 << ${random(100)}`]);
  const calls: readonly (() => string)[] = [
    () => `${at(2)}.format(${value()}, ${value()}, x = ${value()}, a = 1)`,
    () => `${at(3)} % (${value()}, ${value()})`,
    () => `${at(3)} % ${value()}`,
    () => `int(${at(4)}, ${pick(["0", "2", "8", "10", "16", "36"])})`,
    () => `int(${at(4)})`,
    () => `float(${at(5)})`,
    () => `str(${float()})`,
    () => `"%e %f %g" % (${float()}, ${float()}, ${float()})`,
    () => `int(${float()})`,
    () => `${any()}.${pick(["split", "rsplit"])}(${pick(["None", any()])}, ${int()})`.replace(", None)", ")"),
    () => `${any()}.${pick(["strip", "lstrip", "rstrip", "partition", "rpartition", "count"])}(${any()})`,
    () =>
      `${any()}.${pick(["find", "rfind", "index", "rindex", "count", "startswith", "endswith"])}(${any()}, ${int()}, ${int()})`,
    () => `${any()}.replace(${any()}, ${any()}, ${random(4) - 1})`,
    () => `${any()}[${int()}:${int()}:${int()}]`,
    () =>
      `[${any()}.${pick(["upper", "lower", "title", "capitalize", "isalpha", "isalnum", "isdigit", "isspace", "istitle", "isupper", "islower"])}()]`,
    () => `${any()}.splitlines(${pick(["True", "False", ""])})`,
    () => `list(${any()}.${pick(["elems", "codepoints", "elem_ords", "codepoint_ords"])}())`,
    () => `json.decode(${at(7)})`,
    () => `json.encode([${value()}, {${any()}: ${value()}}])`,
    () => `repr(${any()}[1:])`,
    () => `[${value()}] * ${random(4)} + [${float()} ${pick(["//", "%", "/", "*", "-"])} ${float()}]`,
    () => `(${float()} ${pick(["<", "==", ">="])} ${pick([`1 << ${random(80)}`, "0", float()])})`,
    () => `range(${int()}, ${int()}, ${int()})[${int()}:${int()}]`,
    () => `sorted([${value()}, ${value()}, ${value()}], reverse = ${pick(["True", "False"])})`,
    () => `hash(${any()})`,
  ];
  const line = (): string => `show(lambda: ${(calls[random(calls.length)] ?? (() => "None"))()})\n`;
  return prelude + Array.from({ length: lines }, line).join("");
}
