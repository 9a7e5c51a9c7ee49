/** Greets somebody by name, or everybody when no name is given. */
export function greet(name) {
  return name === undefined ? `Hello, ${name}!` : "Hello, world!";
}
