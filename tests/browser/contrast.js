// WCAG 2.2, success criteria 1.4.3 and 1.4.11: every visible text against the colours it lies on, and every
// border that shows where a control is. A function for page.evaluate; it returns what falls short.
() => {
  const parse = (colour) => {
    const [red, green, blue, alpha = 1] = colour.match(/[\d.]+/g).map(Number);
    return [red, green, blue, alpha];
  };
  const over = ([r, g, b, a], under) => [r, g, b].map((value, i) => value * a + under[i] * (1 - a));
  const luminance = (rgb) => {
    const [r, g, b] = rgb.map((v) => v / 255).map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const contrast = (one, two) => {
    const [light, dark] = [luminance(one), luminance(two)].sort((a, b) => b - a);
    return (light + 0.05) / (dark + 0.05);
  };
  const lineage = (element) => (element ? [...lineage(element.parentElement), element] : []);
  const ground = (element) =>
    lineage(element).reduce((under, e) => over(parse(getComputedStyle(e).backgroundColor), under), [255, 255, 255]);
  const visible = (element) => element.checkVisibility({ opacityProperty: true, visibilityProperty: true });
  const faint = [];
  const check = (what, colour, under, least) => {
    const ratio = contrast(over(parse(colour), under), under);
    if (ratio < least) faint.push(`${what}: ${ratio.toFixed(2)} < ${least}`);
  };
  let checked = 0;
  for (const element of document.body.querySelectorAll("*")) {
    // What cannot be used just now, and what is only heard, may be faint.
    if (!visible(element) || element.closest("svg, .unseen, :disabled, label:has(:disabled)")) continue;
    const style = getComputedStyle(element);
    const name = `${element.tagName} ${element.id || element.className || element.textContent.slice(0, 20)}`;
    const own = [...element.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.data.trim());
    if (own || element.value) {
      checked += 1;
      check(name, style.color, ground(element), 4.5);
    }
    const hint = element.matches(":placeholder-shown") ? "::placeholder" : "::before";
    const pseudo = getComputedStyle(element, hint);
    if (hint === "::placeholder" || /\w/.test(pseudo.content.replace(/^(none|normal)$/, ""))) {
      check(name + hint, pseudo.color, ground(element), 4.5);
    }
    // A picture shows by itself where it is; a button of bare text has no border to be seen.
    const isFramed = element.matches("button:not(.primary, .icon, .open), input[type=number]");
    if (isFramed && parseFloat(style.borderTopWidth) > 0) {
      check(name + " border", style.borderTopColor, ground(element.parentElement), 3);
    }
  }
  if (checked < 10) faint.push(`only ${checked} texts were found`);
  return faint;
}
