// Small things that every view draws with: elements, text widths, colours of the theme. Text enters by textContent only.

const SVG = "http://www.w3.org/2000/svg";

/** An SVG element; a child that is a string becomes text. */
export function svg(tag, attributes = {}, ...children) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined) made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
}

/** An HTML element; properties are those of the object, `data` and `aria` are written as attributes. */
export function html(tag, { data = {}, aria = {}, ...properties } = {}, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  for (const [name, value] of Object.entries(data)) made.dataset[name] = value;
  for (const [name, value] of Object.entries(aria)) made.setAttribute(name === "role" ? name : `aria-${name}`, value);
  made.append(...children);
  return made;
}

const ruler = document.createElement("canvas").getContext("2d");

export function textWidth(text, size, weight = 400) {
  ruler.font = `${weight} ${size}px ${getComputedStyle(document.body).fontFamily}`;
  return ruler.measureText(text).width;
}

/** A colour of the theme as [red, green, blue]. */
export function colour(name) {
  ruler.fillStyle = getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const hex = ruler.fillStyle;
  return [1, 3, 5].map((start) => Number.parseInt(hex.slice(start, start + 2), 16));
}

/** A canvas of rows × columns cells, one pixel each, that CSS enlarges. `shade(row, column)` is 0 … 1, or −1 … 1. */
export function cells(canvas, rows, columns, shade) {
  canvas.width = Math.max(columns, 1);
  canvas.height = Math.max(rows, 1);
  const [ground, more, less] = [colour("--cell"), colour("--accent"), colour("--less")];
  const context = canvas.getContext("2d");
  const image = context.createImageData(canvas.width, canvas.height);
  for (let row = 0; row < rows; row += 1) {
    for (let column = 0; column < columns; column += 1) {
      const value = shade(row, column);
      const strength = Math.min(Math.abs(value), 1);
      const goal = value < 0 ? less : more;
      const at = 4 * (row * columns + column);
      for (let part = 0; part < 3; part += 1) {
        image.data[at + part] = ground[part] + (goal[part] - ground[part]) * strength;
      }
      image.data[at + 3] = 255;
    }
  }
  context.putImageData(image, 0, 0);
}

/** Small weights must still be seen: shades grow as the root of the weight. */
export const shadeOf = (weight) => Math.sqrt(weight);

export const sum = (values) => values.reduce((total, value) => total + value, 0);

/** The mean over heads of [head][row][column]. */
export function meanOfHeads(heads) {
  return heads[0].map((row, i) => row.map((_, j) => sum(heads.map((head) => head[i][j])) / heads.length));
}

const SPACE = "\u2581";

/** A piece for people: its space mark goes, and what goes on with a word says so. */
export function label(piece, place = 1) {
  if (/^<.+>$/.test(piece)) return piece;
  if (piece === SPACE) return "\u2423";
  if (piece.startsWith(SPACE)) return piece.slice(1);
  return place > 0 && /^[\p{L}\p{N}]/u.test(piece) && !isIdeographic(piece) ? `\u00b7${piece}` : piece;
}

export const isControl = (piece) => /^<(s|\/s|pad|unk|upper|2[a-z]+)>$/.test(piece);

const isIdeographic = (piece) => /^[\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef]/.test(piece);

/** The word that each piece belongs to, as the places of its pieces. */
export function wordsOf(pieces) {
  const words = [];
  pieces.forEach((piece, place) => {
    const begins =
      words.length === 0 || piece.startsWith(SPACE) || isControl(piece) || isControl(pieces[place - 1]) ||
      isIdeographic(piece);
    if (begins) words.push([]);
    words.at(-1).push(place);
  });
  return words;
}

export const wordAt = (pieces, place) => wordsOf(pieces).find((word) => word.includes(place)) ?? [place];
