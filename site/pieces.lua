-- Puts the pieces that `checker site` wrote into the blocks of their names, as checker/site/pieces does without Quarto,
-- where the list of them is. Where none was written, as with a plain `quarto render` on a clean clone, the block's own
-- words stay.

return {
  {
    Div = function(div)
      if div.identifier == "" then
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
