-- Puts the pieces that `checker site` wrote into the blocks that ask for them, as checker/pages/pieces.py does without
-- Quarto. Where none was written, as with a plain `quarto render` on a clean clone, the block's own words stay.
local NAMES = { gallery = true, watch = true, grid = true, ["try"] = true, references = true, api = true }

return {
  {
    Div = function(div)
      if not NAMES[div.identifier] then
        return nil
      end
      local folder = quarto.project.directory or "."
      local file = io.open(folder .. "/build/pieces/" .. div.identifier .. ".html", "r")
      if not file then
        return nil
      end
      local text = file:read("a")
      file:close()
      return pandoc.RawBlock("html", text)
    end,
    -- A picture's words are its caption, and without this Quarto gives those who cannot see it none.
    Image = function(image)
      if #image.caption > 0 and not image.attributes["fig-alt"] then
        image.attributes["fig-alt"] = pandoc.utils.stringify(image.caption)
        return image
      end
    end,
  },
}
