-- Notebook cells as sections of a page: a heading from each labelled cell, and folds that say what is in them.
--
-- What is said of a cell, `checker site` has read from the notebook and written down (checker/site/cell_words.py): its
-- heading, the title of its fold, the words of a picture without a text. The same is on the built-in page. Where it was not
-- written, as with a plain `quarto render` on a clean clone, cells stay as Quarto shows them. Cell 0, which Quarto reads as
-- settings, is shown as what it is.

-- The words about each cell of the notebook by the cell's first two lines; none in a page that is no notebook.
local function words_of_cells()
  local name = quarto.doc.input_file:match("([^/\\]+)%.ipynb$")
  local folder = quarto.project.directory or "."
  local file = name and io.open(folder .. "/build/cells/" .. name .. ".json", "r")
  if not file then
    return {}
  end
  local found = quarto.json.decode(file:read("a"))
  file:close()
  return found
end

local words

-- The first two lines of a cell that are not blank, without the blanks around them.
local function first_lines(code)
  local lines = {}
  for line in code:gmatch("[^\n]*%S[^\n]*") do
    lines[#lines + 1] = line:match("^%s*(.-)%s*$")
  end
  return table.concat(lines, "\n", 1, math.min(2, #lines))
end

-- The code block of a cell, nil in one without.
local function code_of(cell)
  for _, block in ipairs(cell.content) do
    if block.t == "CodeBlock" and block.classes:includes("cell-code") then
      return block
    end
  end
end

-- Pictures for which the notebook gives no text get the words of their cell.
local function with_texts(div, text)
  return div:walk({
    Image = function(image)
      if #image.caption == 0 and not image.attributes["fig-alt"] and not image.attributes.alt then
        image.attributes["fig-alt"] = text
      end
      return image
    end,
  })
end

-- Headings of a notebook stand one level higher than on a page, where the title is the first; `_quarto.yml` shifts them.
local SECTION = 1

local function cell(div)
  if not div.classes:includes("cell") then
    return nil
  end
  local code = code_of(div)
  if code == nil then
    return nil
  end
  words = words or words_of_cells()
  local said = words[first_lines(code.text)]
  if said == nil then
    return nil
  end
  code.attributes["code-summary"] = code.attributes["code-summary"] or said.fold
  code.attributes["code-fold"] = code.attributes["code-fold"] or said.code
  div = with_texts(div, said.picture)
  if not said.heading then
    return div
  end
  return { pandoc.Header(SECTION, said.heading, pandoc.Attr(said.place)), div }
end

-- The place of "# Cell 1: Task definition and plan" is that of every other section: "section-1".
local function text_section(header)
  local number = pandoc.utils.stringify(header):match("^Cell (%d+)")
  if header.level ~= SECTION or not number then
    return nil
  end
  header.identifier = "section-" .. number
  return header
end

-- Cell 1 says the title in bold, for Jupyter; a page begins with it, so the text does not repeat it.
local function without_its_title(document)
  local title = pandoc.utils.stringify(document.meta.title or "")
  local seen = false
  return document:walk({
    Para = function(paragraph)
      local first = paragraph.content[1]
      local alone = not seen and #paragraph.content == 1 and first.t == "Strong"
      if alone and pandoc.utils.stringify(first) == title then
        seen = true
        return {}
      end
    end,
  })
end

-- Cell 0 of a notebook: a heading and the settings, folded; nothing in a page that is no notebook.
local function settings()
  local path = quarto.doc.input_file
  local file = path:match("%.ipynb$") and io.open(path, "r")
  if not file then
    return {}
  end
  local notebook = quarto.json.decode(file:read("a"))
  file:close()
  local source = notebook.cells[1] and notebook.cells[1].source or ""
  source = type(source) == "table" and table.concat(source) or source
  if not source:match("^%s*%-%-%-") then
    return {}
  end
  return {
    pandoc.Header(SECTION, "Cell 0: Quarto's YAML header", pandoc.Attr("section-0")),
    pandoc.RawBlock("html", "<details class=\"code-fold\"><summary>Show Quarto's YAML header</summary>"),
    pandoc.CodeBlock(source, pandoc.Attr("", { "yaml" })),
    pandoc.RawBlock("html", "</details>"),
  }
end

return {
  { Header = text_section },
  { Div = cell },
  {
    Pandoc = function(document)
      local blocks = pandoc.Blocks(settings())
      blocks:extend(without_its_title(document).blocks)
      document.blocks = blocks
      return document
    end,
  },
}
